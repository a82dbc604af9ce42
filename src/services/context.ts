import type { Parent } from '../domain/session/parent.ts'
import type { Env } from '../env.ts'
import type { Counted } from '../objects/counted.ts'

/** Who is calling, whatever the way in: everything is done for `teamId`, and counted for `userId`. */
export type Principal = Credential & {
  userId: string
  teamId: string
  scopes: ReadonlySet<string>
}

/**
 * What a caller has shown: an API key, a session of the console, or the key of a pod, which acts for the owner of its account. The operator
 * acts for an account where it is deleted.
 */
export type Credential = { via: 'KEY' | 'SESSION' | 'POD' | 'OPERATOR'; credentialId: string }

/** What a request says of the resource that it changes, and how its answer names that resource's state (RST-21). */
export interface Precondition {
  /** The `If-Match` header. */
  ifMatch: string | undefined
  /** Names the state for the `ETag` header of an answer that shows the resource, or what a change of it would do. The last one counts. */
  tell: (tag: string) => void
}

/** What every verb needs: where, who, when (milliseconds) and in which request. */
export interface VerbContext {
  env: Env
  principal: Principal
  nowMs: number
  requestId: string
  /** That the request was counted; without it nothing can be written in the caller's name (SHR-3). */
  counted?: Counted
  /** Of a REST call; absent: there is none. */
  precondition?: Precondition
}

/** Who of the operators it is: the user and session of one who has signed in, nobody in particular for the operator's key. */
export interface Operator {
  userId: string | null
  credentialId: string | null
  /** What the links that it makes are derived from (DER-3); null: the operator's key, which it has shown. */
  parent: Parent | null
  /** It has signed in with a link, so it makes none for operators (DER-4). */
  isByLink: boolean
}

/** What a verb of the operator needs: the route has checked that it is one. */
export type OperatorContext = Pick<VerbContext, 'env' | 'nowMs' | 'requestId'> & { operator?: Operator }
