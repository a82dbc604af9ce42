import type { ProblemKey } from '../../contract/problems.ts'
import type { Principal } from '../context.ts'

/** What is wrong with an `Authorization` header (ERR-8). */
export type KeyProblem = Extract<ProblemKey, 'missingToken' | 'invalidToken'>

/** Who a request comes from, or why it is not let in. */
export type Authentication = { ok: true; principal: Principal } | Refused

export type Refused =
  /** `errors` says what is wrong with the token of a session; of a key nothing is said. */
  | { ok: false; problem: KeyProblem; errors?: readonly string[] }
  /** The credential is good, and the account that it acts for suspended (PP-214). `sessionAccount` is that of a session. */
  | { ok: false; problem: 'accountSuspended'; sessionAccount: string | null }
  /** The token is good, and whom it names has no account here (SES-6). */
  | { ok: false; problem: 'accessDenied'; detail: string }
  /** Unknown keys came too often from where this one comes (PP-200): it was not looked up. */
  | { ok: false; problem: 'rateLimited'; waitSeconds: number }
  /** Nobody can tell now whether the token is good (SES-4). */
  | { ok: false; problem: 'unavailable'; detail: string; waitSeconds: number }

/** What else is to know of a request. */
export interface Visit {
  /** The team that a session asks for (AUT-7). */
  askedTeam?: string | null
  /** Whose failed look-ups count together; null: nobody knows, and none count. */
  source(): string | null
  /** Lets the note of last use, and fresh keys of the provider, outlive the response. */
  waitUntil(promise: Promise<unknown>): void
}

export const INVALID = { ok: false, problem: 'invalidToken' } as const satisfies Refused
