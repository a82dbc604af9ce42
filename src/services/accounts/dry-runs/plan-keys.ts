import type { RotateKeyRequest } from '../../../contract/accounts/keys.ts'
import type { ChangePlan } from '../../../contract/change-plan.ts'
import { Problem } from '../../../contract/problems.ts'
import { type ApiKeyRow, findKeyRow } from '../../../db/accounts/api-keys.ts'
import { findSshKeys } from '../../../db/accounts/ssh-keys.ts'
import { openDatabase } from '../../../db/client.ts'
import { countRunningPods } from '../../../db/pods/running-pods.ts'
import { planKeyRevocation, planKeyRotation, planSshKeys } from '../../../domain/plan/keys.ts'
import { planChange } from '../../change-plan.ts'
import type { OperatorContext, VerbContext } from '../../context.ts'
import { requireMatch } from '../../precondition.ts'
import { requireScope } from '../../require-scope.ts'
import { findOwnKey, findRotatedKey, hasEnded, overlapEnd } from '../own-keys.ts'
import { tagOfSshKeys } from '../ssh-keys.ts'

/** Returns the plan of revoking a key of the account (DRY-10). Throws 403, and 404 also for a revoked key. */
export async function planRevokeOwnKey(ctx: VerbContext, id: string): Promise<ChangePlan> {
  return planRevocation(await findOwnKey(ctx, id), ctx.nowMs)
}

/** Returns the plan of revoking a key of any account, for the operator. Throws 404. */
export async function planRevokeKey({ env, nowMs }: OperatorContext, id: string): Promise<ChangePlan> {
  return planRevocation(await findKeyRow(openDatabase(env.DB), id), nowMs)
}

/** Returns the plan of rotating one's own key (DRY-24). Throws 403, and 404 for any other key. */
export async function planRotateOwnKey(ctx: VerbContext, id: string, { overlapSeconds }: RotateKeyRequest): Promise<ChangePlan> {
  const { nowMs } = ctx
  const previous = await findRotatedKey(ctx, id)
  const { name, expiresAt, revokedAt, replacedBy } = previous
  return planChange('keys.rotate', { kind: 'api-key', id, name }, async () => {
    if (revokedAt !== null || replacedBy !== null || (expiresAt !== null && expiresAt <= nowMs)) throw hasEnded()
    return planKeyRotation(previous, Math.min(overlapEnd(nowMs, overlapSeconds), expiresAt ?? Number.POSITIVE_INFINITY), nowMs)
  })
}

function planRevocation(row: ApiKeyRow | undefined, nowMs: number): Promise<ChangePlan> {
  if (!row || row.revokedAt !== null) throw new Problem('notFound')
  return planChange('keys.revoke', { kind: 'api-key', id: row.id, name: row.name }, async () => [planKeyRevocation(row, nowMs)])
}

/** Returns the plan of replacing the SSH keys of the account (DRY-10). Throws 403. */
export async function planPutSshKeys(ctx: VerbContext, keys: readonly string[]): Promise<ChangePlan> {
  const { env, principal } = ctx
  requireScope(principal, 'account:write')
  const { teamId } = principal
  const account = { kind: 'account' as const, id: teamId, name: null }
  const db = openDatabase(env.DB)
  return planChange('ssh-keys.replace', account, async () => {
    const before = await findSshKeys(db, teamId)
    requireMatch(ctx, tagOfSshKeys(ctx, before))
    return planSshKeys(
      account,
      before.map(({ line }) => line),
      keys,
      await countRunningPods(db, teamId),
    )
  })
}
