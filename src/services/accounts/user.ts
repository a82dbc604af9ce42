import { Problem } from '../../contract/problems.ts'
import { findUser } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the acting user: the user who signed in, or the creator of the key (ACC-7). Throws 403 and 404. */
export async function getUser({ env, principal }: VerbContext): Promise<{ id: string; email: string }> {
  if (principal.via !== 'SESSION') requireScope(principal, 'account:read')
  const user = await findUser(openDatabase(env.DB), principal.userId)
  if (!user) throw new Problem('notFound')
  return { id: user.id, email: user.email }
}
