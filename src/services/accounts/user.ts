import { Problem } from '../../contract/problems.ts'
import { findUser } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'

/** The user who acts: who has signed in, or who made the key (ACC-7). Throws 403. */
export async function getUser({ env, principal }: VerbContext): Promise<{ id: string; email: string }> {
  if (principal.via !== 'SESSION') requireScope(principal, 'account:read')
  const user = await findUser(openDatabase(env.DB), principal.userId)
  if (!user) throw new Problem('notFound')
  return { id: user.id, email: user.email }
}
