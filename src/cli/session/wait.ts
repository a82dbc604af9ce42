import { pause } from '../../client/transport.ts'
import { formatDuration } from '../core/durations.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Session } from './session.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

/** Polls until there is a result; meanwhile stderr shows why it is not there yet (CMD-4). Throws `CliError` at the deadline. */
export async function untilDone<T>(
  session: Session,
  resource: string,
  poll: () => Promise<{ done: T } | { why: string }>,
  { firstMs, longestMs, deadlineMs = session.deadlineMs }: { firstMs: number; longestMs: number; deadlineMs?: number } = {
    firstMs: FIRST_PAUSE_MS,
    longestMs: LONGEST_PAUSE_MS,
  },
): Promise<T> {
  let said = ''
  for (let polls = 0; ; polls += 1) {
    session.signal.throwIfAborted()
    const seen = await poll()
    if ('done' in seen) return seen.done
    session.printer?.finish()
    const waitedMs = session.io.nowMs() - session.startedAtMs
    const isTerminal = session.io.stderr.isTTY === true
    if (isTerminal) session.out.progress(`${seen.why} (${formatDuration(waitedMs)})`)
    else if (seen.why !== said) session.out.progress(seen.why)
    said = seen.why
    if (session.io.nowMs() >= deadlineMs) {
      throw new CliError(EXIT.TIMED_OUT, 'wait_timeout', `not done after ${formatDuration(waitedMs)}: ${seen.why}`, { resource })
    }
    const leftMs = Math.max(0, deadlineMs - session.io.nowMs())
    await pause(Math.min(firstMs * 2 ** Math.min(polls, 10), longestMs, leftMs), session.signal)
  }
}
