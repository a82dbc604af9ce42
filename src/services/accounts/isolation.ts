import type { AccountIsolation } from '../../contract/accounts/isolation.ts'
import { findRuntimeClass, setRuntimeClass } from '../../db/accounts/isolation.ts'
import { openDatabase } from '../../db/client.ts'
import type { Env } from '../../env.ts'
import { noteByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { findUserOrThrow } from '../or-not-found.ts'

/** Returns the runtime class that a user's account requires for its containers. Throws 404. */
export async function getIsolation(env: Env, userId: string): Promise<AccountIsolation> {
  const { personalTeamId } = await findUserOrThrow(env, userId)
  return { runtimeClass: await findRuntimeClass(openDatabase(env.DB), personalTeamId) }
}

/** Sets the runtime class that later containers of a user's account require; running containers continue (CLASS-1). Throws 404. */
export async function setIsolation(ctx: OperatorContext, userId: string, { runtimeClass }: AccountIsolation): Promise<AccountIsolation> {
  const { personalTeamId } = await findUserOrThrow(ctx.env, userId)
  const change = { action: 'isolation.set', resourceKind: 'user', resourceId: userId, before: {}, after: { runtimeClass } }
  await setRuntimeClass(openDatabase(ctx.env.DB), personalTeamId, runtimeClass, noteByOperator(ctx, personalTeamId, change))
  return { runtimeClass }
}
