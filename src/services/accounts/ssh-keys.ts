import { findSshKeys, replaceSshKeys } from '../../db/accounts/ssh-keys.ts'
import { openDatabase } from '../../db/client.ts'
import type { Env } from '../../env.ts'
import { noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'

/** The account's SSH public keys (ACC-1). Throws 403. */
export async function getSshKeys(ctx: VerbContext): Promise<string[]> {
  requireScope(ctx.principal, 'account:read')
  return sshKeysOf(ctx.env, ctx.principal.teamId)
}

/** Replaces the whole set; running pods keep the keys they got (ACC-1). Throws 403. */
export async function putSshKeys(ctx: VerbContext, keys: string[]): Promise<string[]> {
  requireScope(ctx.principal, 'account:write')
  const db = openDatabase(ctx.env.DB)
  const { teamId } = ctx.principal
  const before = { keys: await findSshKeys(db, teamId) }
  await db.batch([
    replaceSshKeys(db, teamId, keys, ctx.nowMs),
    noteChange(ctx, { action: 'ssh-keys.replace', resourceKind: 'ssh-keys', resourceId: teamId, before, after: { keys } }),
  ])
  return keys
}

/** A team's SSH public keys, for the pods that it starts (POD-20). */
export function sshKeysOf(env: Env, teamId: string): Promise<string[]> {
  return findSshKeys(openDatabase(env.DB), teamId)
}
