import { useAct } from '../../hooks/act.ts'
import { useApi } from '../../hooks/session.ts'

const MAY_NOT = 'Your role in this account may not change jobs.'

/** Cancels and retries a job. */
export function useJobActs(endpointId: string) {
  const { api, may, refresh } = useApi()
  const { isBusy, run } = useAct()
  const done = () => Promise.all([refresh('jobs', endpointId), refresh('job', endpointId)])
  return {
    isBusy,
    off: may('jobs:write') ? undefined : MAY_NOT,
    cancel: (jobId: string) => run(() => api.cancelJob({ path: { endpointId, jobId } }), 'The job is cancelled').then(done),
    retry: (jobId: string) => run(() => api.retryJob({ path: { endpointId, jobId } }), 'The job is queued again').then(done),
  }
}
