import { Problem } from '../../contract/problems.ts'
import { type CreateDelegationRequest, type EcrDelegation, RESOURCE_REFUSAL } from '../../contract/resources/delegations.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { openDatabase } from '../../db/client.ts'
import * as table from '../../db/resources/delegations.ts'
import { ecrHost, parseEcrArn } from '../../domain/resources/ecr.ts'
import { sessionName } from '../../effects/ecr/session-name.ts'
import { newResourceId } from '../../platform/ids.ts'
import { DELETED, noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { requireScope } from '../require-scope.ts'
import { tooMany } from './resource-problems.ts'

const KIND = 'delegation'

/** Records that the account may pull from an ECR repository (REG-3, IDEM-2). Throws 400, 403, 409 and 422 (its key is in use). */
export async function createDelegation(ctx: VerbContext, body: CreateDelegationRequest, key: string | undefined): Promise<EcrDelegation> {
  requireScope(ctx.principal, 'registries:write')
  return onceForKey<EcrDelegation>(ctx, 'createDelegation', key, body, (store) => writeDelegation(ctx, body, store))
}

async function writeDelegation(ctx: VerbContext, body: CreateDelegationRequest, store: StoreAnswer<EcrDelegation>): Promise<EcrDelegation> {
  const named = parseEcrArn(body.resource)
  if (!named) throw new Problem('badRequest', { detail: RESOURCE_REFUSAL, code: 'RULE' })
  const { teamId, userId } = ctx.principal
  const { account: awsUser, region: awsRegion, repository, tag } = named
  const place = { id: newResourceId(), teamId, name: body.name ?? null, delegatorUserId: userId }
  const row = { ...place, awsUser, awsRegion, repository, tag, createdAt: ctx.nowMs }
  const answer = await shown({ ...row, endedBecause: null })
  const { id, endedBecause: _counts, awsSessionName: _name, ...after } = answer
  const note = noteChange(ctx, { action: 'delegations.create', resourceKind: KIND, resourceId: id, before: null, after })
  if (!(await table.insertDelegation(openDatabase(ctx.env.DB), row, [note, ...store(answer)]))) throw tooMany('registry delegations')
  return answer
}

/** Returns all delegations of the account, newest first, including those that have ended (DER-26). Throws 403. */
export async function listDelegations(ctx: VerbContext): Promise<EcrDelegation[]> {
  requireScope(ctx.principal, 'registries:read')
  // Bounded: hashes of names, without calls.
  return Promise.all((await table.listDelegations(openDatabase(ctx.env.DB), ctx.principal.teamId)).map(shown))
}

/** Revokes a delegation: later starts pull without it (REG-5). Throws 403 and 404. */
export async function revokeDelegation(ctx: VerbContext, id: string): Promise<void> {
  requireScope(ctx.principal, 'registries:write')
  const note = noteChange(ctx, { action: 'delegations.revoke', resourceKind: KIND, resourceId: id, ...DELETED })
  if (!(await table.deleteDelegation(openDatabase(ctx.env.DB), ctx.principal.teamId, id, [note]))) throw new Problem('notFound')
}

async function shown({ teamId, createdAt, ...row }: table.JudgedDelegation): Promise<EcrDelegation> {
  const dockerRegistryUri = ecrHost({ account: row.awsUser, region: row.awsRegion })
  const awsSessionName = await sessionName({ teamId, userId: row.delegatorUserId })
  return { ...row, dockerRegistryUri, awsSessionName, createdAt: formatTime(createdAt) }
}
