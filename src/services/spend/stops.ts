import type { SpendStop, StoppedItem, StopSpendRequest } from '../../contract/billing/stops.ts'
import { Problem } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import * as table from '../../db/billing/stops.ts'
import { openDatabase } from '../../db/client.ts'
import { usdOfNanos } from '../../domain/money.ts'
import { isToRun } from '../../domain/pod/pod.ts'
import { own } from '../../objects/ownership/own.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { newResourceId } from '../../platform/ids.ts'
import { logEvent } from '../../platform/log.ts'
import { noteChange } from '../audit.ts'
import type { VerbContext } from '../context.ts'
import { updateEndpoint } from '../endpoints/endpoints.ts'
import { orNotFound } from '../or-not-found.ts'
import { actOnPod } from '../pods/change-pod.ts'
import { requireScope } from '../require-scope.ts'
import { makeStopPlan, type NamedStop } from './stop-plan.ts'

/** Items that are stopped or restored at the same time. */
const AT_ONCE = 8

/**
 * Carries out the present stop plan (SPD-11) and stores what an undo needs. An item that cannot be stopped gets a reason and does not block
 * the others. Throws 403, and 409 when the plan differs from the one with the given `planId`.
 */
export async function stopSpend(ctx: VerbContext, body: StopSpendRequest): Promise<SpendStop> {
  const plan = await makeStopPlan(ctx, body)
  if (body.planId !== undefined && body.planId !== plan.planId) {
    const detail = `running workloads have changed since that plan: the plan is ${plan.planId}; review it with dryRun=true and send its planId`
    throw new Problem('conflict', { detail, code: 'PLAN_CHANGED' })
  }
  const row = rowOf(ctx, plan)
  // The record for an undo is stored first: after a crash in between, its items remain PENDING.
  await table.insertStop(openDatabase(ctx.env.DB), row, note(ctx, 'stop', row))
  const items = await mapAtOnce(row.items, (item) => stopItem(ctx, item), AT_ONCE)
  await table.saveStop(openDatabase(ctx.env.DB), { ...row, items })
  return show({ ...row, items })
}

/** Returns the retained stops of the account, newest first (SPD-12). Throws 403. */
export async function listSpendStops({ env, principal }: VerbContext): Promise<SpendStop[]> {
  requireScope(principal, 'billing:read')
  return (await table.listStops(openDatabase(env.DB), principal.teamId)).map(show)
}

/** Restores the items of a stop (SPD-12): restored items stay as they are, failed restores are tried again. Throws 403 and 404. */
export async function undoSpendStop(ctx: VerbContext, id: string): Promise<SpendStop> {
  requireScope(ctx.principal, 'pods:write')
  const db = openDatabase(ctx.env.DB)
  const row = orNotFound(await table.findStop(db, ctx.principal.teamId, id))
  if (row.items.some(({ kind }) => kind === 'ENDPOINT')) requireScope(ctx.principal, 'serverless:write')
  const items = await mapAtOnce(row.items, (item) => restoreItem(ctx, item), AT_ONCE)
  const isUndone = items.every(({ state }) => state === 'RESTORED' || state === 'FAILED')
  const after = { ...row, items, undoneAtMs: isUndone ? (row.undoneAtMs ?? ctx.nowMs) : null }
  await table.saveStop(db, after, [note(ctx, 'undo', after)])
  return show(after)
}

function rowOf(ctx: VerbContext, { stops, savedNanosPerHour, formerWorkers, stoppedWorkers }: NamedStop): table.SpendStopRow {
  const items = stops.map(({ kind, id, name }): StoppedItem => {
    const previous = formerWorkers.get(id)
    const bounds = previous ? { min: previous.min, max: previous.max } : null
    return { kind, id, name, state: 'PENDING', reason: null, formerWorkers: bounds, stoppedWorkers: stoppedWorkers.get(id) ?? null }
  })
  return { id: newResourceId(), teamId: ctx.principal.teamId, createdAtMs: ctx.nowMs, savedNanosPerHour, items, undoneAtMs: null }
}

async function stopItem(ctx: VerbContext, item: StoppedItem): Promise<StoppedItem> {
  return recordOutcome(item, 'STOPPED', async () => {
    if (item.kind === 'POD') await actOnPod(ctx, item.id, 'stop', undefined)
    else await updateEndpoint(ctx, item.id, { workers: boundsOf(item) })
  })
}

// Leaves an item that was not stopped (FAILED) unchanged.
async function restoreItem(ctx: VerbContext, item: StoppedItem): Promise<StoppedItem> {
  if (item.state === 'RESTORED' || item.state === 'FAILED') return item
  return recordOutcome(item, 'RESTORED', () => (item.kind === 'POD' ? startAgain(ctx, item) : scaleAgain(ctx, item)))
}

async function startAgain(ctx: VerbContext, { id }: StoppedItem): Promise<void> {
  const { row } = await own(ctx.env, ctx.principal, 'pod', id)
  if (!isToRun(row)) await actOnPod(ctx, id, 'start', undefined)
}

/** Returns the worker bounds that a stop set; rows without them stand for zero workers. */
function boundsOf({ stoppedWorkers }: StoppedItem): { min: number; max: number } {
  return stoppedWorkers ?? { min: 0, max: 0 }
}

async function scaleAgain(ctx: VerbContext, item: StoppedItem): Promise<void> {
  const { id, formerWorkers } = item
  const given = boundsOf(item)
  const { workers } = (await own(ctx.env, ctx.principal, 'endpoint', id)).row
  if (formerWorkers === null || (workers.min === formerWorkers.min && workers.max === formerWorkers.max)) return
  if (workers.min !== given.min || workers.max !== given.max) {
    const detail = `its workers were set to ${workers.min} to ${workers.max} since; they were ${formerWorkers.min} to ${formerWorkers.max}`
    throw new Problem('conflict', { detail })
  }
  await updateEndpoint(ctx, id, { workers: formerWorkers })
}

/** Returns the item with its new state: the reason of a refusal is shown, a fault of the plane is not described. */
async function recordOutcome(item: StoppedItem, state: 'STOPPED' | 'RESTORED', act: () => Promise<void>): Promise<StoppedItem> {
  try {
    await act()
    return { ...item, state, reason: null }
  } catch (error) {
    const isRefusal = error instanceof Problem
    if (!isRefusal) logEvent('error', 'an item of a stop of spending failed', { kind: item.kind, id: item.id, error })
    const reason = isRefusal ? error.detail : 'the plane could not do it; retry'
    return { ...item, state: state === 'STOPPED' ? 'FAILED' : item.state, reason }
  }
}

function note(ctx: VerbContext, verb: 'stop' | 'undo', { id, items }: table.SpendStopRow) {
  const after = { items: items.map(({ kind, id: of, state }) => `${kind} ${of} ${state}`) }
  return noteChange(ctx, { action: `spend.${verb}`, resourceKind: 'spend-stop', resourceId: id, before: {}, after })
}

function show({ id, createdAtMs, savedNanosPerHour, undoneAtMs, items }: table.SpendStopRow): SpendStop {
  const undoneAt = undoneAtMs === null ? null : formatTime(undoneAtMs)
  // Rows of older releases have no bounds.
  const shown = items.map((item) => ({ ...item, stoppedWorkers: item.kind === 'ENDPOINT' ? boundsOf(item) : null }))
  return { id, createdAt: formatTime(createdAtMs), savedPerHour: usdOfNanos(savedNanosPerHour), undoneAt, items: shown }
}
