import { Problem } from '../../contract/problems.ts'
import type { Owned } from '../../objects/owned.ts'
import { Turns } from '../../platform/turns.ts'

const RETRY_AFTER_SECONDS = 2
/** A host waits for less than its agent's own timeout of 15 s. */
const turns = new Turns({ atOnce: 8, turnMaxMs: 5_000, waitMaxMs: 10_000 })

/**
 * Runs a call that opens the object of a proven host: one for each host and eight at a time in this isolate (HOST-44). After a start of the
 * plane all hosts link at once, and calls of users would wait until all objects are open. Throws 503 if there is no room for ten seconds.
 */
export function inHostTurn<T>(host: Owned<'host'>, call: () => Promise<T>): Promise<T> {
  return turns.run(host.id, call, tooBusy)
}

function tooBusy(): Problem {
  return new Problem('unavailable', {
    detail: 'too many hosts link at this moment; the agent tries again by itself',
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  })
}
