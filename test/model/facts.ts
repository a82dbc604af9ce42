// Part of the independent oracle: see oracle.ts.

/** A worker container's start: (worker id, boot nonce). */
export type Boot = string

export type Happening =
  | { kind: 'submitted'; job: string; low: boolean; ttlMs: number; executionMs: number; retentionMs: number }
  | { kind: 'taken'; job: string; boot: Boot }
  | { kind: 'posted'; job: string; boot: Boot; output?: unknown; error?: string }
  | { kind: 'progressed'; job: string; boot: Boot; output: unknown }
  | { kind: 'streamed'; job: string; boot: Boot }
  | { kind: 'cancelled'; job: string }
  | { kind: 'retried'; job: string }
  | { kind: 'purged' }
  /** The queue was loaded anew, which forgets the pings of its workers since their rows were written. */
  | { kind: 'loaded' }
  | { kind: 'booted'; boot: Boot }
  | { kind: 'pinged'; boot: Boot; listed: readonly string[] }
  | { kind: 'polled idle'; boot: Boot }
  | { kind: 'ended'; boot: Boot; by: 'itself' | 'its host' | 'the platform' }
  | { kind: 'drained'; boot: Boot }
  /** The queue is notified that the boot's machine is silent since then; `held` are its jobs, each with the time of its take. */
  | { kind: 'host silent'; boot: Boot; since: number; held: readonly { job: string; startAt: number }[] }
  | { kind: 'host heard'; boot: Boot }

/** A point in a history. At the same instant timers (n = -1) come before facts (TMO-10), and facts in the order in which they happened. */
export interface Moment {
  at: number
  n: number
}

export type Fact = Happening & Moment

/** Whether a moment comes after another. */
export function isAfter(a: Moment, b: Moment): boolean {
  return a.at > b.at || (a.at === b.at && a.n > b.n)
}
