import type { VerbContext } from '../context.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the acting user: the user who signed in, or the creator of the key (ACC-7). Throws 403 and 404. */
export async function getUser({ env, principal }: VerbContext): Promise<{ id: string; email: string }> {
  if (principal.via !== 'SESSION') requireScope(principal, 'account:read')
  const user = await findUserOrThrow(env, principal.userId)
  return { id: user.id, email: user.email }
}
