import type { Env } from '../env.ts'

/** Who is calling: everything is done for `teamId`. */
export interface Principal {
  keyId: string
  userId: string
  teamId: string
  scopes: ReadonlySet<string>
}

/** What every verb needs: where, who and when (milliseconds). */
export interface VerbContext {
  env: Env
  principal: Principal
  nowMs: number
}
