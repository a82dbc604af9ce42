import type { ResealResponse } from '../../contract/accounts/secrets.ts'
import { insertAuditRows } from '../../db/audit.ts'
import { openDatabase, openRecords, type Records } from '../../db/client.ts'
import {
  isLastStep,
  listObjects,
  RESEALED_TABLES,
  type ResealedTable,
  resealRegistries,
  resealReleases,
  resealRows,
  resealSecretParts,
  resealSpendWebhooks,
  resealStoredAnswers,
  STEP_PARTS,
  type Step,
} from '../../db/reseal.ts'
import { hideVariables } from '../../domain/endpoint/release-diff.ts'
import { openSpendWebhook, sealSpendWebhook } from '../../effects/billing/spend-webhook.ts'
import { openSealedLogin, sealLogin } from '../../effects/registry-login.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { endpointStub, hostStub, webhookSenderStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'
import { rowByOperator } from '../audit.ts'
import type { OperatorContext } from '../context.ts'
import { digestOf } from '../endpoints/endpoints.ts'

type StepName = (typeof STEPS)[number]
const STEPS = [
  ...RESEALED_TABLES,
  'registries',
  'spend limits',
  'releases',
  'secrets',
  'stored answers',
  'endpoint objects',
  'host objects',
  'sender objects',
] as const

/**
 * Runs one step over all sealed data of the plane: data that is in plain text or sealed under a previous TOKEN_SECRET is sealed under the
 * present one (SEAL-3). A row that cannot be opened does not block the others (SEAL-4). The steps may be stopped and started again at any
 * time.
 */
export async function reseal(ctx: OperatorContext, cursor: string | undefined): Promise<ResealResponse> {
  const { env } = ctx
  const { step, afterId } = readCursor(cursor)
  const { ids, written, failed } = await runStep(env, step, afterId)
  for (const { id, error } of failed) logEvent('error', 'what is sealed could not be sealed anew', { step, id, error })
  const after = { step, looked: ids.length, resealed: written, failed: failed.length }
  // A step consists of many batches, so its audit row belongs to none of them and is written whatever the last one changed.
  await insertAuditRows(openDatabase(env.DB), [
    rowByOperator(ctx, { action: 'secrets.reseal', resourceKind: 'secrets', resourceId: 'all', before: {}, after }),
  ])
  return { step, looked: ids.length, resealed: written, failed: failed.map(({ id }) => `${step}/${id}`), nextCursor: nextCursor(step, ids) }
}

function runStep(env: Env, step: StepName, afterId: string): Promise<Step> {
  const db = openRecords(env)
  if (isTable(step)) return resealRows(db, step, afterId)
  if (step === 'registries') return resealRegistries(db, afterId, (row) => resealLogin(env, row))
  if (step === 'spend limits') {
    return resealSpendWebhooks(db, afterId, (teamId, sealed) => sealSpendWebhook(env, teamId, openSpendWebhook(env, teamId, sealed)))
  }
  if (step === 'releases') return resealReleases(db, afterId, (endpointId, diff) => hideVariables(diff, digestOf(env, endpointId)))
  if (step === 'secrets') return resealSecretParts(db, afterId)
  if (step === 'stored answers') return resealStoredAnswers(db, afterId)
  if (step === 'endpoint objects')
    return resealObjects(db, 'endpoints', afterId, (id) => endpointStub(env, asPlane('endpoint', id, 'reseals values')).reseal())
  if (step === 'host objects')
    return resealObjects(db, 'hosts', afterId, (id) => hostStub(env, asPlane('host', id, 'reseals values')).reseal())
  return resealObjects(db, 'teams', afterId, (id) => webhookSenderStub(env, asPlane('team', id, 'reseals values')).reseal())
}

function resealLogin(env: Env, row: Parameters<typeof openSealedLogin>[1]) {
  const login = openSealedLogin(env, row)
  return login && sealLogin(env, row, login)
}

// A failure of one object does not block the others.
async function resealObjects(
  db: Records,
  kind: Parameters<typeof listObjects>[1],
  afterId: string,
  reseal: (id: string) => Promise<void>,
): Promise<Step> {
  const ids = await listObjects(db, kind, afterId)
  const failed: Step['failed'] = []
  for (const id of ids) {
    try {
      await reseal(id)
    } catch (error) {
      failed.push({ id, error })
    }
  }
  return { ids, written: ids.length - failed.length, failed }
}

function isTable(step: StepName): step is ResealedTable {
  return RESEALED_TABLES.some((table) => table === step)
}

function nextCursor(step: StepName, ids: readonly string[]): string | null {
  const lastId = ids.at(-1)
  const isLast = isLastStep(ids, step === 'secrets' || step === 'stored answers' ? STEP_PARTS : undefined)
  if (lastId !== undefined && !isLast) return `${step}/${lastId}`
  const next = STEPS[STEPS.indexOf(step) + 1]
  return next === undefined ? null : `${next}/`
}

function readCursor(cursor: string | undefined): { step: StepName; afterId: string } {
  const [name, afterId] = (cursor ?? '').split('/')
  const step = STEPS.find((known) => known === name)
  return { step: step ?? STEPS[0], afterId: step ? (afterId ?? '') : '' }
}
