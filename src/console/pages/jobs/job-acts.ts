/** What can be done with a job in its state; a reason where it cannot. The states are those of the API. */

const OVER = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'])
const RETRIED = new Set(['FAILED', 'TIMED_OUT'])

export const isOver = (status: string) => OVER.has(status)

/** Why it cannot be cancelled; undefined: it can. */
export function cancelOff(status: string): string | undefined {
  return isOver(status) ? 'It is over.' : undefined
}

/** Why it cannot be queued again; undefined: it can. */
export function retryOff(status: string): string | undefined {
  if (RETRIED.has(status)) return undefined
  return isOver(status) ? 'Only jobs that failed or timed out are retried.' : 'It is not over.'
}
