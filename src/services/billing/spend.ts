import type { SpendCeilings, SpendLimits, SpendSummary, UpdateSpendLimitsRequest } from '../../contract/billing/spend.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { type OwnSpendLimits, readSpend, type SpendChange, upsertSpendLimits } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { changedMembers } from '../../domain/audit/change.ts'
import { boundsOf, estimateMicros, monthOf, nearestShares, type SpendSettings, usd } from '../../domain/billing/spend.ts'
import { refuseWebhookUrl } from '../../domain/webhook/url.ts'
import { findSpendRefusal, limitsInForce, readUse, type SpendView, viewSpend } from '../../effects/billing/spend.ts'
import { openSpendWebhook, sealSpendWebhook } from '../../effects/billing/spend-webhook.ts'
import { announceCapacity } from '../../effects/capacity.ts'
import { webhookAllowOfTeam } from '../../effects/webhook-allow.ts'
import type { Env } from '../../env.ts'
import { noteByOperator, noteChange } from '../audit.ts'
import type { OperatorContext, VerbContext } from '../context.ts'
import { decideAgain } from '../decide-again.ts'
import { findUserOrThrow } from '../or-not-found.ts'
import { contentTag, reportTag, requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'

const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** Throws 402 when an account may not add a resource of this hourly cost (BIL-22, BIL-23). The statement that reserves it checks again. */
export async function requireSpend({ env, principal }: VerbContext, nanosPerHour: number): Promise<void> {
  // Uses the present time and not that of the request: the cost of the month keeps growing, and the explanation must use what the refused
  // statement saw.
  const refusal = await findSpendRefusal(env, principal.teamId, nanosPerHour, Date.now())
  if (refusal) throw problemOf(refusal)
}

/** Returns the account's spending and its limits (BIL-25). Throws 403. */
export async function getSummary({ env, principal, nowMs }: VerbContext): Promise<SpendSummary> {
  requireScope(principal, 'billing:read')
  return await summaryOf(env, principal.teamId, nowMs)
}

/** Returns the spending and the limits of any account. */
export async function summaryOf(env: Env, teamId: string, nowMs: number): Promise<SpendSummary> {
  const month = monthOf(nowMs)
  const view = await viewSpend(env, teamId)
  const { nanosByKind, nanosPerHour, limits } = view
  const use = await readUse(env, teamId, view, nowMs, true)
  const spentMicros = use.monthMicros ?? 0
  const shares = nearestShares(boundsOf(limits, use))
  const rateOf = (nanos: number) => nanos / NANOS_PER_USD
  return {
    rate: {
      perHour: rateOf(nanosPerHour),
      pods: rateOf(nanosByKind.PODS),
      serverless: rateOf(nanosByKind.SERVERLESS),
      networkVolumes: rateOf(nanosByKind.NETWORK_VOLUMES),
      share: shares.hour,
    },
    month: {
      from: formatTime(month.startMs),
      to: formatTime(month.endMs),
      spent: spentMicros / MICROS_PER_USD,
      estimate: estimateMicros(spentMicros, nanosPerHour, month, nowMs) / MICROS_PER_USD,
      share: shares.month,
    },
    limits: toLimits(env, teamId, view),
  }
}

/** Returns the spend limits of the account that are in force (BIL-20). Throws 403. */
export async function getSpendLimits(ctx: VerbContext): Promise<SpendLimits> {
  const { env, principal } = ctx
  requireScope(principal, 'billing:read')
  const view = await viewSpend(env, principal.teamId)
  reportTag(ctx, tagOfLimits(ctx, view))
  return toLimits(env, principal.teamId, view)
}

/** Sets spend limits of the account within the operator's ceilings (BIL-21). Throws 400, 403, and 409 after too many concurrent changes. */
export async function updateSpendLimits(ctx: VerbContext, body: UpdateSpendLimitsRequest): Promise<SpendLimits> {
  const { env, principal, nowMs } = ctx
  requireScope(principal, 'account:write')
  const { teamId } = principal
  const limits = await decideAgain('limits', async () => {
    const view = await viewSpend(env, teamId)
    requireMatch(ctx, tagOfLimits(ctx, view))
    const before = await refuseLimits(env, teamId, view, body)
    const change = changeOf(env, teamId, body)
    const changed = changedView(env, view, change)
    const after = toLimits(env, teamId, changed)
    const contents = changedMembers({ ...before }, { ...after })
    const note = noteChange(ctx, { action: 'spend-limits.update', resourceKind: 'spend-limits', resourceId: teamId, ...contents })
    if (!(await upsertSpendLimits(openDatabase(env.DB), teamId, change, nowMs, note, ownLimits(view)))) return null
    reportTag(ctx, tagOfLimits(ctx, changed))
    return after
  })
  // Higher limits may allow workers that wait.
  await announceCapacity(env, null)
  return limits
}

/** Returns the tag of an account's limits, over the values that the account itself can set. */
export function tagOfLimits({ env, principal }: VerbContext, view: SpendView): string {
  const { microsPerHour, microsPerMonth, stopsPods, webhookSealed } = ownLimits(view)
  return contentTag(env, 'spend-limits', principal.teamId, microsPerHour, microsPerMonth, stopsPods, webhookSealed)
}

function ownLimits({ settings, webhookSealed }: SpendView): OwnSpendLimits {
  const { microsPerHour, microsPerMonth, stopsPods } = settings
  return { microsPerHour, microsPerMonth, stopsPods, webhookSealed }
}

/** Returns the limits before a change. Throws 400 for values above the operator's ceilings or a webhook that is not allowed. */
export async function refuseLimits(env: Env, teamId: string, view: SpendView, body: UpdateSpendLimitsRequest): Promise<SpendLimits> {
  const before = toLimits(env, teamId, view)
  refuseAbove('perHour', body.perHour, before.maxPerHour)
  refuseAbove('perMonth', body.perMonth, before.maxPerMonth)
  await refuseWebhook(env, teamId, body.webhook)
  return before
}

/** Returns the operator's spend ceilings of an account (BIL-21). Throws 404. */
export async function getCeilings(env: Env, userId: string): Promise<SpendCeilings> {
  const { settings } = await readSpend(openDatabase(env.DB), (await findUserOrThrow(env, userId)).personalTeamId)
  return toCeilings(settings)
}

/** Sets the operator's spend ceilings of an account; an omitted ceiling returns to its default. Throws 404. */
export async function setCeilings(ctx: OperatorContext, userId: string, { perHour, perMonth }: SpendCeilings): Promise<SpendCeilings> {
  const { env, nowMs } = ctx
  const { personalTeamId: teamId } = await findUserOrThrow(env, userId)
  const before = toCeilings((await readSpend(openDatabase(env.DB), teamId)).settings)
  const change = { ceilingMicrosPerHour: microsOf(perHour ?? null), ceilingMicrosPerMonth: microsOf(perMonth ?? null) }
  const after = toCeilings(change)
  const note = noteByOperator(ctx, teamId, { action: 'spend-limits.set', resourceKind: 'user', resourceId: userId, before, after })
  await upsertSpendLimits(openDatabase(env.DB), teamId, change, nowMs, note)
  await announceCapacity(env, null)
  return after
}

function refuseAbove(name: string, wanted: number | null | undefined, most: number | null): void {
  if (typeof wanted !== 'number' || most === null || wanted <= most) return
  const detail = `${name} ${usd(wanted)} is above ${usd(most)} USD, the operator's ceiling for this account; ask the operator to raise it`
  throw new Problem('badRequest', { detail, code: 'RULE' })
}

async function refuseWebhook(env: Env, teamId: string, url: string | null | undefined): Promise<void> {
  const refusal = typeof url === 'string' ? refuseWebhookUrl(url, await webhookAllowOfTeam(env, teamId)) : null
  if (refusal !== null) throw new Problem('badRequest', { detail: `webhook: ${refusal}` })
}

/** Returns the row values of a change of the account's own limits. */
export function changeOf(env: Env, teamId: string, { perHour, perMonth, stopsPods, webhook }: UpdateSpendLimitsRequest): SpendChange {
  return {
    ...(perHour !== undefined && { microsPerHour: microsOf(perHour) }),
    ...(perMonth !== undefined && { microsPerMonth: microsOf(perMonth) }),
    ...(stopsPods !== undefined && { stopsPods }),
    ...(webhook !== undefined && { webhookSealed: webhook === null ? null : sealSpendWebhook(env, teamId, webhook) }),
  }
}

function changedView(env: Env, view: SpendView, { webhookSealed = view.webhookSealed, ...settings }: SpendChange): SpendView {
  const changed = { ...view.settings, ...settings }
  return { ...view, settings: changed, webhookSealed, limits: limitsInForce(env, changed) }
}

function toLimits(env: Env, teamId: string, { settings, limits: { hour, month }, webhookSealed }: SpendView): SpendLimits {
  return {
    perHour: hour.limitMicros / MICROS_PER_USD,
    maxPerHour: hour.ceilingMicros / MICROS_PER_USD,
    perMonth: usdOrNull(month.limitMicros),
    maxPerMonth: usdOrNull(month.ceilingMicros),
    stopsPods: settings.stopsPods,
    webhook: webhookSealed === null ? null : withoutQuery(openSpendWebhook(env, teamId, webhookSealed)),
  }
}

function toCeilings(settings: Pick<SpendSettings, 'ceilingMicrosPerHour' | 'ceilingMicrosPerMonth'>): SpendCeilings {
  const { ceilingMicrosPerHour: hour, ceilingMicrosPerMonth: month } = settings
  return { ...(hour !== null && { perHour: hour / MICROS_PER_USD }), ...(month !== null && { perMonth: month / MICROS_PER_USD }) }
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Converts USD to millionths of a USD; null stays null. */
export function microsOf(usdAmount: number | null): number | null {
  return usdAmount === null ? null : Math.round(usdAmount * MICROS_PER_USD)
}

function usdOrNull(micros: number | null): number | null {
  return micros === null ? null : micros / MICROS_PER_USD
}
