import type { RateOutcome, RateQuota } from '../domain/rate-limit.ts'

/** The object that counts the REST requests of one user, or of the pods that one account pays for, as everybody else knows it. */
export interface RateLimiterRpc extends Rpc.DurableObjectBranded {
  /**
   * Spends one request if every window has room, or the reserve that its `credential` has for what `ends` something; of a pod, if the pods that its
   * account pays for have room too, by the quota `together` of who pays. Plain values go there and back, because every request waits for this hop. `nowMs` is for tests; the object's own clock decides
   * otherwise.
   */
  take(
    minute: number,
    hour: number,
    day: number,
    nowMs?: number,
    ends?: boolean,
    podId?: string,
    credential?: string,
    together?: RateQuota,
  ): RateOutcome
  /** Writes a row, and returns once it is durable. */
  probe(): Promise<void>
}
