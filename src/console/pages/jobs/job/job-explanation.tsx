import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { ExplanationPanel } from '../../../parts/explain/explanation-panel.tsx'

/** Explanation of a job's state: the verdict, its evidence and the options. */
export function JobExplanation({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const { may } = useApi()
  const why = useLive(['job', endpointId, jobId, 'why'], (api, signal) => api.explainJob({ path: { endpointId, jobId } }, { signal }))
  return <ExplanationPanel of={why} mayWrite={may('serverless:write')} refresh="job" />
}
