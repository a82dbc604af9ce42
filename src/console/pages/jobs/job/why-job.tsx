import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { WhyPanel } from '../../../parts/why/why-panel.tsx'

/** Explanation of a job's state: the verdict, its evidence and the options. */
export function WhyJob({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const { may } = useApi()
  const why = useLive(['job', endpointId, jobId, 'why'], (api, signal) => api.explainJob({ path: { endpointId, jobId } }, { signal }))
  return <WhyPanel of={why} mayWrite={may('serverless:write')} refresh="job" />
}
