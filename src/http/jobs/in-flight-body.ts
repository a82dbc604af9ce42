import { describeExcess } from '../../contract/accounts/budgets.ts'
import { Problem } from '../../contract/problems.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import { drainRefused, enterInFlight, inFlightUse } from '../../effects/in-flight.ts'
import type { Env } from '../../env.ts'

/** Smaller bodies are not worth counting: limits of calls hold them. */
const MIN_COUNTED_BYTES = 64 * 1024
const RETRY_SECONDS = '1'

/**
 * Counts the body of a request with those of its team's last seconds (PP-207): what is taken in costs memory and time, however soon it is
 * answered. One whose length nobody announced counts as the longest that there may be. Null: it is too small to count. Throws 429 when it is
 * too much.
 */
export async function countBody(env: Env, request: Request, teamId: string, maxBytes: number): Promise<{ bytes: number } | null> {
  const bytes = request.body ? (announcedBytes(request.headers) ?? maxBytes) : 0
  if (bytes <= MIN_COUNTED_BYTES) return null
  const nowMs = Date.now()
  const { used, bound } = await inFlightUse(env, teamId, nowMs)
  if (used + bytes > bound) {
    // Unread, it resets the connection, and its sender may not hear why: that is for those who go on in spite of having heard it.
    await drainRefused(request.body, teamId, bytes, nowMs)
    const detail = describeExcess('inFlightBytes', used, bytes, bound)
    throw new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } })
  }
  return enterInFlight(teamId, bytes, nowMs)
}
