import type { SshKeys } from '../../contract/accounts/ssh-keys.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { findSshKeys, replaceSshKeys } from '../../db/accounts/ssh-keys.ts'
import { openDatabase } from '../../db/client.ts'
import { type JudgedSshKey, makersOf } from '../../domain/resources/ssh-key.ts'
import type { Env } from '../../env.ts'
import { noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'

/** Returns the account's SSH public keys (ACC-1), with the user who added each (DER-34). Throws 403. */
export async function getSshKeys(ctx: VerbContext): Promise<SshKeys> {
  requireScope(ctx.principal, 'account:read')
  return shown(ctx, await findSshKeys(openDatabase(ctx.env.DB), ctx.principal.teamId))
}

/**
 * Replaces the whole set; running pods keep their keys (ACC-1). New keys in it are recorded as added by the caller (DER-33). Throws 403,
 * and 409 after too many concurrent changes.
 */
export async function putSshKeys(ctx: VerbContext, keys: string[]): Promise<SshKeys> {
  requireScope(ctx.principal, 'account:write')
  const db = openDatabase(ctx.env.DB)
  const { teamId, userId } = ctx.principal
  return decideAgain('set of SSH keys', async () => {
    const before = await findSshKeys(db, teamId)
    requireMatch(ctx, tagOfSshKeys(ctx, before))
    const states = { before: { keys: before.map(({ line }) => line) }, after: { keys } }
    const note = noteChange(ctx, { action: 'ssh-keys.replace', resourceKind: 'ssh-keys', resourceId: teamId, ...states })
    const makers = makersOf(before, keys, { userId, addedAtMs: ctx.nowMs })
    const [replaced] = await db.batch([replaceSshKeys(db, teamId, before, makers, keys, ctx.nowMs), note])
    return replaced.meta.changes === 0 ? null : shown(ctx, await findSshKeys(db, teamId))
  })
}

/** Returns the tag of an account's keys, over all fields that are shown. */
export function tagOfSshKeys({ env, principal }: VerbContext, keys: readonly JudgedSshKey[]): string {
  return contentTag(env, 'ssh-keys', principal.teamId, keys)
}

/** Returns a team's valid SSH public keys, for the pods that it starts (POD-20, DER-33). */
export async function sshKeysOf(env: Env, teamId: string): Promise<string[]> {
  const keys = await findSshKeys(openDatabase(env.DB), teamId)
  return keys.flatMap(({ line, endedBecause }) => (endedBecause === null ? [line] : []))
}

function shown(ctx: VerbContext, keys: readonly JudgedSshKey[]): SshKeys {
  reportTag(ctx, tagOfSshKeys(ctx, keys))
  const makers = keys.map(({ maker, endedBecause }) => ({
    userId: maker?.userId ?? null,
    addedAt: maker && formatTime(maker.addedAtMs),
    endedBecause,
  }))
  return { keys: keys.map(({ line }) => line), makers }
}
