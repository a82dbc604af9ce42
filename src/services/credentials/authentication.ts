import type { ProblemKey } from '../../contract/problems.ts'
import type { Principal } from '../context.ts'

/** The problem of an `Authorization` header (ERR-8). */
export type KeyProblem = Extract<ProblemKey, 'missingToken' | 'invalidToken'>

/** The caller of a request, or the refusal. */
export type Authentication = { ok: true; principal: Principal } | Refused

/** A credential that was refused, with the reason. */
export type Refused =
  /** `errors` describes the problem of a session's token; for a key it is absent. */
  | { ok: false; problem: KeyProblem; errors?: readonly string[] }
  /** The credential is valid, but its account is suspended (DER-40). `sessionAccount` is the account of a session. */
  | { ok: false; problem: 'accountSuspended'; sessionAccount: string | null }
  /** The token is valid, but the user that it names has no account here (OIDC-6). */
  | { ok: false; problem: 'accessDenied'; detail: string }
  /** Too many unknown keys came from this source (KEY-10), so the key was not looked up. */
  | { ok: false; problem: 'rateLimited'; waitSeconds: number }
  /** Whether the token is valid cannot be checked at present (OIDC-4). */
  | { ok: false; problem: 'unavailable'; detail: string; waitSeconds: number }

/** Further context of a request. */
export interface Visit {
  /** The team that a session requests (AUT-7). */
  askedTeam?: string | null
  /** Returns the source that failed lookups are counted under; null: it is unknown, and none are counted. */
  source(): string | null
  /** Lets the update of the last use, and the refresh of the provider's keys, outlive the response. */
  waitUntil(promise: Promise<unknown>): void
}

/** A credential that is unknown, expired, revoked or malformed: callers cannot distinguish these. */
export const INVALID = { ok: false, problem: 'invalidToken' } as const satisfies Refused
