import { Problem, problemOf, type Refusal } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { findOrganization, isOwnAccount, type OrganizationRow, type Seer } from '../../db/organizations/organizations.ts'
import type { Scope } from '../../domain/access.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the organizations that a caller may see (TEAM-4): all of the user's for a session, only its own for a key made in one. */
export function seerOf({ principal }: VerbContext): Seer {
  return { userId: principal.userId, boundTo: principal.via === 'SESSION' ? null : principal.teamId }
}

/** Returns an organization of the caller. Throws 403 without the scope, and 404 for a user who is no member. */
export async function requireOrganization(ctx: VerbContext, scope: Scope, id: string): Promise<OrganizationRow> {
  requireScope(ctx.principal, scope)
  return orNotFound(await findOrganization(openDatabase(ctx.env.DB), seerOf(ctx), id))
}

/** Refuses a key that was made in an organization for operations on the user's own account (TEAM-4). Throws 403. */
export async function requireOwnAccount(ctx: VerbContext): Promise<void> {
  requireScope(ctx.principal, 'account:write')
  const { via, userId, teamId } = ctx.principal
  if (via === 'SESSION' || (await isOwnAccount(openDatabase(ctx.env.DB), userId, teamId))) return
  const detail =
    'a key that was created in an organization is valid for that organization only; use a key of your personal account, or sign in'
  throw new Problem('accessDenied', { detail })
}

/** Returns the context that puts a change of an organization into its own audit log, whatever account the caller acts for (TEAM-15). */
export function noteFor(ctx: VerbContext, teamId: string): VerbContext {
  return { ...ctx, principal: { ...ctx.principal, teamId } }
}

/** Throws the refusal of a decision, if there is one. */
export function assertAllowed(refusal: Refusal | null): void {
  if (refusal) throw problemOf(refusal)
}
