import { describeExcess } from '../contract/accounts/budgets.ts'
import { Problem } from '../contract/problems.ts'
import type { Env } from '../env.ts'
import { type Body, drainRefused, enterInFlight, growInFlight, inFlightUse } from './in-flight.ts'

/** A body grows by so much in its account's count at a time: to ask for each piece would make small pieces dear. */
const STEP_BYTES = 64 * 1024
const RETRY_SECONDS = '1'

/** How a body is counted whose length is known only at its end. */
export interface Arrival {
  env: Env
  teamId: string
  /** The most that it is counted as. */
  maxCountedBytes: number
  /** No more of a refused body than this is read, so that its sender hears why. */
  maxDrainedBytes: number
  /**
   * Its reader stands in another object and takes JSON alone: a refused body ends there in what is no JSON. A stream that fails on its way to
   * another object would be several uncaught errors in the log, each time.
   */
  isJson?: boolean
  /**
   * Its reader stands in another object and takes anything: aborted when the body will not come whole, it has to end the request that carries the
   * stream on. To such a reader a stream that fails looks like one that ends, and a part would be taken for the whole (LB-1).
   */
  breaks?: AbortController
}

/** A control character ends no JSON text, inside a string or out of it. */
const NO_JSON = new Uint8Array([0])

/** What refuses a body that an account has no room for (PP-207). */
export function noRoomForBody(used: number, bytes: number, bound: number): Problem {
  const detail = describeExcess('inFlightBytes', used, bytes, bound)
  return new Problem('rateLimited', { detail, headers: { 'Retry-After': RETRY_SECONDS } })
}

/**
 * A body without an announced length, counted by the bytes that have been read of it (RST-20). `stream` is the body to read in its place. Where
 * the account has no room for the next step, the rest is passed over and `refusal` says so. A stream that does not come whole, because of that or
 * because its sender has gone, fails, ends in what is no JSON, or has no end.
 */
export class ArrivingBody {
  readonly stream: ReadableStream<Uint8Array>
  /** The 429 that ended it; null while there is none. */
  refusal: Problem | null = null
  /** The account has not room for it alone, and never will while its bound stands. */
  isBeyondBound = false
  /** What it counts as by now, in bytes; null: nothing yet. */
  counted: Body | null = null
  private readonly arrival: Arrival
  private arrivedBytes = 0

  /** `head` is what has been read of `source` already. */
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
          await drainRefused(source, arrival.teamId, arrival.maxDrainedBytes, Date.now())
        } catch (error) {
          return this.breakOff(controller, error)
        }
        return this.breakOff(controller, this.refusal)
      },
      // One that is broken or was refused has nothing left to cancel.
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
    const nowMs = Date.now()
    const step = Math.min(Math.max(missing, STEP_BYTES), maxCountedBytes - countedBytes)
    const { used, bound } = await inFlightUse(env, teamId, nowMs)
    this.counted ??= enterInFlight(teamId, 0, nowMs)
    this.isBeyondBound = this.arrivedBytes > bound
    return growInFlight(teamId, this.counted, step, bound, nowMs) ? null : noRoomForBody(used, step, bound)
  }
}
