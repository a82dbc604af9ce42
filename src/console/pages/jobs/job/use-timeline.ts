import type { JobTimeline } from '../../../../contract/jobs/timeline.ts'
import { type Live, useLive } from '../../../hooks/live.ts'

/** Timeline of a job: input, attempts and cost. */
export function useTimeline(endpointId: string, jobId: string): Live<JobTimeline> {
  return useLive(['job', endpointId, jobId, 'timeline'], (api, signal) => api.getJobTimeline({ path: { endpointId, jobId } }, { signal }))
}
