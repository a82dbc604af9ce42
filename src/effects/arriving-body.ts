import { describeExcess } from '../contract/accounts/budgets.ts'
import { Problem } from '../contract/problems.ts'
import type { Env } from '../env.ts'
import { type Body, drainRefused, enterInFlight, growInFlight, inFlightUse } from './in-flight.ts'

/** Bytes reserved in the account's count per step: a step per chunk would make small chunks expensive. */
const STEP_BYTES = 64 * 1024
const RETRY_SECONDS = '1'

/** Settings for a body whose length is known only at its end. */
export interface Arrival {
  env: Env
  teamId: string
  /** Upper limit of the bytes that the body counts as. */
  maxCountedBytes: number
  /** Upper limit of the bytes that are read of a refused body so that its sender receives the refusal. */
  maxDrainedBytes: number
  /**
   * The reader is in another object and accepts JSON only: a refused body ends in bytes that are not JSON. A stream that fails on its way
   * to another object would log several uncaught errors each time.
   */
  isJson?: boolean
  /**
   * The reader is in another object and accepts any bytes. Aborted when the body will not arrive complete; the owner must then end the
   * request that forwards the stream. To such a reader a failed stream looks like an ended one, and it would take a part for the whole
   * (LB-1).
   */
  breaks?: AbortController
}

/** A NUL byte makes any JSON text invalid, inside and outside of strings. */
const NO_JSON = new Uint8Array([0])

/** The 429 for a body that exceeds the account's in-flight byte budget (BUDGET-4). */
export function noRoomForBody(used: number, bytes: number, bound: number): Problem {
  const detail = describeExcess('inFlightBytes', used, bytes, bound)
  return new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } })
}

/**
 * A body without an announced length, counted by the bytes read so far (REST-20). `stream` replaces the original body. When the account's
 * budget has no room for the next step, the rest is drained and `refusal` is set. A stream that does not arrive complete, because of that
 * or because its sender disconnected, fails, ends in invalid JSON (`isJson`) or never ends (`breaks`).
 */
export class ArrivingBody {
  readonly stream: ReadableStream<Uint8Array>
  /** The 429 that ended the body; null while there is none. */
  refusal: Problem | null = null
  /** The body alone exceeds the account's bound, so a retry cannot succeed while that bound stands. */
  isBeyondBound = false
  /** The entry in the in-flight count, in bytes; null before the first byte is counted. */
  counted: Body | null = null
  private readonly arrival: Arrival
  private arrivedBytes = 0

  /** `head` holds the chunks of `source` that were already read. */
  constructor(source: ReadableStream<Uint8Array>, arrival: Arrival, head: readonly Uint8Array[] = []) {
    this.arrival = arrival
    const waiting = [...head]
    const reader = source.getReader()
    this.stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const piece = waiting.shift() ?? (await reader.read()).value
          if (piece === undefined) {
            if (this.counted !== null) this.counted.bytes = Math.min(this.arrivedBytes, arrival.maxCountedBytes)
            return controller.close()
          }
          this.refusal = await this.refuse(piece.byteLength)
          if (this.refusal === null) return controller.enqueue(piece)
          reader.releaseLock()
          // A body may take minutes to arrive, so each step reads the clock.
          await drainRefused(source, arrival.teamId, arrival.maxDrainedBytes, Date.now())
        } catch (error) {
          return this.breakOff(controller, error)
        }
        return this.breakOff(controller, this.refusal)
      },
      // A body that failed or was refused has nothing left to cancel.
      cancel: (reason) => reader.cancel(reason).catch(() => undefined),
    })
  }

  private breakOff(controller: ReadableStreamDefaultController<Uint8Array>, why: unknown): Promise<void> {
    const { isJson, breaks } = this.arrival
    if (breaks) {
      breaks.abort()
      return new Promise(() => undefined)
    }
    if (isJson === true) {
      controller.enqueue(NO_JSON)
      controller.close()
    } else controller.error(why)
    return Promise.resolve()
  }

  private async refuse(bytes: number): Promise<Problem | null> {
    this.arrivedBytes += bytes
    const { env, teamId, maxCountedBytes } = this.arrival
    const countedBytes = this.counted?.bytes ?? 0
    const missing = Math.min(this.arrivedBytes, maxCountedBytes) - countedBytes
    if (missing <= 0) return null
    // The count of bytes in flight is of the instant at which the piece arrives.
    const nowMs = Date.now()
    const step = Math.min(Math.max(missing, STEP_BYTES), maxCountedBytes - countedBytes)
    const { used, bound } = await inFlightUse(env, teamId, nowMs)
    this.counted ??= enterInFlight(teamId, 0, nowMs)
    this.isBeyondBound = this.arrivedBytes > bound
    return growInFlight(teamId, this.counted, step, bound, nowMs) ? null : noRoomForBody(used, step, bound)
  }
}
