/** Actions that are possible in each job state, and the reason where one is not. The states are those of the API. */

const OVER = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'])
const RETRIED = new Set(['FAILED', 'TIMED_OUT'])

/** Returns whether a job in this state has ended. */
export const isOver = (status: string) => OVER.has(status)

/** Reason why the job cannot be cancelled; undefined if it can. */
export function cancelOff(status: string): string | undefined {
  return isOver(status) ? 'The job has ended.' : undefined
}

/** Reason why the job cannot be retried; undefined if it can. */
export function retryOff(status: string): string | undefined {
  if (RETRIED.has(status)) return undefined
  return isOver(status) ? 'Only jobs that failed or timed out are retried.' : 'The job has not ended.'
}
