import type { RateOutcome, RateQuota } from '../domain/rate-limit.ts'

/** RPC interface of the object that counts the REST requests of one user, or of the pods that one account pays for. */
export interface RateLimiterRpc extends Rpc.DurableObjectBranded {
  /**
   * Counts one request, which may write, unless a window is exhausted; a request that `ends` something may then use the reserve of its `credential`. A
   * request of a pod also counts for all pods that its account pays for, within the payer's quota `together`. Parameters and result are
   * plain values, because every request waits for this hop. `nowMs` is for tests; the default is the object's clock.
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
  /**
   * Like `take`, for a request of the user that writes nothing. `bookmark`: a state of the database that contains all that the user has
   * written; null: only the primary is sure to (RATE-34).
   */
  takeRead(minute: number, hour: number, day: number, nowMs?: number): { outcome: RateOutcome; bookmark: string | null }
  /** The user has written since: by a request that took long, or that was not counted. */
  wrote(): void
  /** Writes a row, and returns once it is durable. */
  probe(): Promise<void>
}
