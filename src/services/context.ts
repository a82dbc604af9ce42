import type { Parent } from '../domain/session/parent.ts'
import type { Env } from '../env.ts'
import type { Counted } from '../rpc/counted.ts'

/** The caller of any API: operations act for `teamId` and are counted for `userId`. */
export type Principal = Credential & {
  userId: string
  teamId: string
  scopes: ReadonlySet<string>
}

/**
 * The caller's credential: an API key, a session of the console, or the key of a pod, which acts for the owner of its account. OPERATOR:
 * the operator acts for an account that is being deleted.
 */
export type Credential = { via: 'KEY' | 'SESSION' | 'POD' | 'OPERATOR'; credentialId: string }

/** The condition of a request on the resource that it changes, and the callback for that resource's tag (REST-21). */
export interface Precondition {
  /** The `If-Match` header. */
  ifMatch: string | undefined
  /** Reports the tag for the `ETag` header of an answer that shows the resource or a dry run of its change. The last call wins. */
  reportTag: (tag: string) => void
}

/** Context of every operation: environment, caller, time in milliseconds and request. */
export interface VerbContext {
  env: Env
  principal: Principal
  nowMs: number
  requestId: string
  /** The proof that the request was counted; without it nothing can be written in the caller's name (SHR-3). */
  counted?: Counted
  /**
   * For a request that only reads: a bookmark of a state of the database that contains all that the caller has written, once the request is
   * counted; null: only the primary is sure to have it (RATE-34). Absent: everything is read from the primary.
   */
  newestWrite?: Promise<string | null>
  /** Present for REST calls only. */
  precondition?: Precondition
}

/** The acting operator: user and session of a signed-in operator, null for the operator's key. */
export interface Operator {
  userId: string | null
  credentialId: string | null
  /** The parent of the sign-in links that this operator makes (DER-3); null: the operator's key of the request itself. */
  parent: Parent | null
  /** The operator signed in with a link and therefore may not make links for operators (DER-4). */
  isByLink: boolean
}

/** Context of an operator's operation: the route has checked that the caller is an operator. */
export type OperatorContext = Pick<VerbContext, 'env' | 'nowMs' | 'requestId'> & { operator?: Operator }
