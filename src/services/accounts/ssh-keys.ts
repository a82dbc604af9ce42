import { findSshKeys, replaceSshKeys } from '../../db/accounts/ssh-keys.ts'
import { openDatabase } from '../../db/client.ts'
import type { Env } from '../../env.ts'
import { noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { contentTag, requireMatch, tellTag } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'

/** The account's SSH public keys (ACC-1). Throws 403. */
export async function getSshKeys(ctx: VerbContext): Promise<string[]> {
  requireScope(ctx.principal, 'account:read')
  const keys = await sshKeysOf(ctx.env, ctx.principal.teamId)
  tellTag(ctx, tagOfSshKeys(ctx, keys))
  return keys
}

/** Replaces the whole set; running pods keep the keys they got (ACC-1). Throws 403, and 409 when others kept changing it. */
export async function putSshKeys(ctx: VerbContext, keys: string[]): Promise<string[]> {
  requireScope(ctx.principal, 'account:write')
  const db = openDatabase(ctx.env.DB)
  const { teamId } = ctx.principal
  return decideAgain('set of SSH keys', async () => {
    const before = await findSshKeys(db, teamId)
    requireMatch(ctx, tagOfSshKeys(ctx, before))
    const states = { before: { keys: before }, after: { keys } }
    const note = noteChange(ctx, { action: 'ssh-keys.replace', resourceKind: 'ssh-keys', resourceId: teamId, ...states })
    const [replaced] = await db.batch([replaceSshKeys(db, teamId, before, keys, ctx.nowMs), note])
    if (replaced.meta.changes === 0) return null
    tellTag(ctx, tagOfSshKeys(ctx, keys))
    return keys
  })
}

/** The tag of an account's keys: of all of them. */
export function tagOfSshKeys({ env, principal }: VerbContext, keys: readonly string[]): string {
  return contentTag(env, 'ssh-keys', principal.teamId, keys)
}

/** A team's SSH public keys, for the pods that it starts (POD-20). */
export function sshKeysOf(env: Env, teamId: string): Promise<string[]> {
  return findSshKeys(openDatabase(env.DB), teamId)
}
