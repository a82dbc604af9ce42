import type { RateOutcome } from '../domain/rate-limit.ts'

/** The object that counts the REST requests of one user, or of the pods of one account, as everybody else knows it. */
export interface RateLimiterRpc extends Rpc.DurableObjectBranded {
  /**
   * Spends one request if every window has room, or the reserve that its `credential` has for what `ends` something; of a pod, if its account's
   * pods together have room too. Plain values go there and back, because every request waits for this hop. `nowMs` is for tests; the object's own clock decides
   * otherwise.
   */
  take(minute: number, hour: number, day: number, nowMs?: number, ends?: boolean, podId?: string, credential?: string): RateOutcome
  /** Writes a row, and returns once it is durable. */
  probe(): Promise<void>
}
