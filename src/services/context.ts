import type { Env } from '../env.ts'

/** Who is calling, whatever the way in: everything is done for `teamId`, and counted for `userId`. */
export type Principal = Credential & {
  userId: string
  teamId: string
  scopes: ReadonlySet<string>
}

/** What a caller has shown: an API key, a session of the console, or the key of a pod, which acts for the owner of its account. */
export type Credential = { via: 'KEY' | 'SESSION' | 'POD'; credentialId: string }

/** What every verb needs: where, who, when (milliseconds) and in which request. */
export interface VerbContext {
  env: Env
  principal: Principal
  nowMs: number
  requestId: string
}

/** What a verb of the operator needs: the route has checked the operator's key. */
export type OperatorContext = Pick<VerbContext, 'env' | 'nowMs' | 'requestId'>
