import type { RateQuota, RateVerdict } from '../domain/rate-limit.ts'

/** The object that counts the REST requests of one account, as everybody else knows it. */
export interface RateLimiterRpc extends Rpc.DurableObjectBranded {
  /** Spends one request if every window has room. `nowMs` is for tests; the object's own clock decides otherwise. */
  take(quota: RateQuota, nowMs?: number): RateVerdict
}
