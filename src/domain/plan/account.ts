import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { boundsOf, isMonthSpent, isPastHour, type SpendBound, type SpendLimits, type SpendUse, usd } from '../billing/spend.ts'
import { eachOf, effect, type Named, noEffect, rateEffect } from './effect.ts'

// Plans for an operator's changes to an account, and for the account's changes to its own limits. Pure.

const NANOS_PER_USD = 1_000_000_000
const MICROS_PER_USD = 1_000_000

/** A quota before and after a change, and the amount in use; null where usage is not counted. */
export interface BoundChange {
  name: string
  before: number
  after: number
  used: number | null
}

/** Changes of an account's quotas (DRY-11): resources above a new quota stay, and further ones are refused. */
export function planBounds(account: ChangedResource, bounds: readonly BoundChange[]): ChangeEffect[] {
  const changed = bounds.filter(({ before, after }) => before !== after)
  if (changed.length === 0) return noEffect(account)
  return changed.flatMap(({ name, before, after, used }) => [
    effect(account, 'CHANGES', 'INFO', `${name}: ${before} becomes ${after}`),
    ...(used !== null && used > after
      ? [
          {
            ...effect(
              account,
              'REFUSES',
              'WARNING',
              `${name}: ${used} are in use; new requests are refused until fewer than ${after} are in use`,
            ),
            amount: used,
          },
        ]
      : []),
  ])
}

/** Spend limits of an account before and after a change, with its current spending. */
export interface SpendLimitChange {
  before: SpendLimits
  after: SpendLimits
  use: SpendUse
  /** Whether a reached monthly limit stops pods. */
  stopsPods: boolean
  running: Named<{ id: string; name: string }>
}

/**
 * Changes of spend limits (DRY-11): nothing more starts above a limit. Running workloads go on unless the reached monthly limit stops pods.
 */
export function planSpendLimits(account: ChangedResource, { before, after, use, stopsPods, running }: SpendLimitChange): ChangeEffect[] {
  const ofHour = before.hour.limitMicros !== after.hour.limitMicros
  const ofMonth = before.month.limitMicros !== after.month.limitMicros
  const monthLimit = after.month.limitMicros
  const bounds = boundsOf(after, use)
  const [overHour, overMonth] = [bounds.find((bound) => isPastHour(bound)), bounds.find(isMonthSpent)]
  const effects = [
    ...(ofHour
      ? [effect(account, 'CHANGES', 'INFO', `per hour: ${usdOf(before.hour.limitMicros)} becomes ${usdOf(after.hour.limitMicros)}`)]
      : []),
    ...(ofMonth ? [effect(account, 'CHANGES', 'INFO', `per month: ${usdOf(before.month.limitMicros)} becomes ${usdOf(monthLimit)}`)] : []),
    ...(overHour ? [effect(account, 'REFUSES', 'WARNING', `${rateOf(overHour)}: no new workload starts; running ones keep running`)] : []),
    ...(overMonth ? [effect(account, 'REFUSES', 'WARNING', `${spentOf(overMonth)}: no new workload starts`)] : []),
    ...(overMonth && stopsPods
      ? eachOf(account, running, ({ id, name }) =>
          effect({ kind: 'pod', id, name }, 'STOPS', 'WARNING', 'it is stopped, because the monthly limit is reached'),
        )
      : []),
  ]
  return effects.length > 0 ? effects : noEffect(account)
}

function rateOf({ use, isShared }: SpendBound): string {
  return `${usd(use.nanosPerHour / NANOS_PER_USD)} USD per hour are in use${isShared ? ' by all accounts that share it' : ''}`
}

function spentOf({ use, isShared }: SpendBound): string {
  return `${usd((use.monthMicros ?? 0) / MICROS_PER_USD)} USD of this month are spent${isShared ? ' by all accounts that share it' : ''}`
}

function usdOf(micros: number | null): string {
  return micros === null ? 'no limit' : `${usd(micros / MICROS_PER_USD)} USD`
}

/** Changes of the runtime class that an account's containers require (DRY-11). */
export function planIsolation(
  account: ChangedResource,
  { before, after, hosts, running }: { before: string | null; after: string | null; hosts: readonly string[]; running: number },
): ChangeEffect[] {
  if (before === after) return noEffect(account)
  const able = after === null ? hosts.length : hosts.filter((runtimeClass) => runtimeClass === after).length
  const room = `${able} of ${hosts.length} machines that are online can run its containers`
  return [
    effect(account, 'CHANGES', 'INFO', `what must run its containers: ${before ?? 'any'} becomes ${after ?? 'any'}`),
    { ...effect(account, able === 0 ? 'REFUSES' : 'CHANGES', able === 0 ? 'WARNING' : 'INFO', room), amount: able },
    ...(running > 0
      ? [{ ...effect(account, 'STAYS', 'INFO', `${running} running pods keep running where they are`), amount: running }]
      : []),
  ]
}

type Thing = { id: string; name: string }
type Things = Named<Thing>

/** Resources of an account that its deletion or suspension affects. */
export interface PlannedHoldings {
  /** Pods whose desired state is running. */
  running: Things
  /** Pods that a suspension has stopped. */
  suspended: Things
  pods: Things
  clusters: Things
  endpoints: Things
  volumes: Things
  /** Numbers of secrets, templates and registry credentials. */
  secrets: number
  templates: number
  registries: number
  /** Number of valid keys. */
  keys: number
}

/** Suspending an account (DRY-12): effects on its keys, pods and workers. */
export function planSuspension(
  account: ChangedResource,
  { running, endpoints, keys }: PlannedHoldings,
  nanosSaved: number,
): ChangeEffect[] {
  return [
    { ...effect(account, 'REFUSES', 'WARNING', `its ${keys} keys and all sessions for it are refused within 60 s`), amount: keys },
    ...eachOf(
      account,
      running,
      effectFor('pod', 'STOPS', 'WARNING', 'it is stopped; its disks stay, and it starts again when the suspension ends'),
    ),
    ...eachOf(account, endpoints, effectFor('endpoint', 'STOPS', 'WARNING', 'its workers are stopped; its jobs wait')),
    ...rateEffect(account, nanosSaved, 0),
  ]
}

/** Ending a suspension (DRY-12). */
export function planResumption(account: ChangedResource, { suspended, endpoints, keys }: PlannedHoldings): ChangeEffect[] {
  return [
    { ...effect(account, 'CHANGES', 'INFO', `its ${keys} keys are valid again`), amount: keys },
    ...eachOf(account, suspended, effectFor('pod', 'STARTS', 'INFO', 'it is started again if its host has capacity')),
    ...eachOf(account, endpoints, effectFor('endpoint', 'STARTS', 'INFO', 'its workers start when its jobs need them')),
  ]
}

/** Deleting a user with the personal account (DRY-12). */
export function planUserDeletion(account: ChangedResource, held: PlannedHoldings, nanosPerHour: number): ChangeEffect[] {
  const counted = [
    [held.keys, 'keys are revoked'],
    [held.secrets, 'secrets are deleted'],
    [held.templates, 'templates are deleted'],
    [held.registries, 'registry credentials are deleted'],
  ] as const
  return [
    effect(account, 'DELETES', 'LOSS', 'the user and the account are deleted; usage records stay for billing'),
    ...eachOf(account, held.clusters, effectFor('cluster', 'DELETES', 'LOSS', 'it is deleted with its members')),
    ...eachOf(account, held.pods, effectFor('pod', 'DELETES', 'LOSS', 'it is terminated, and its disks are deleted')),
    ...eachOf(
      account,
      held.endpoints,
      effectFor('endpoint', 'DELETES', 'LOSS', 'it is deleted, its jobs are cancelled and its results are deleted'),
    ),
    ...eachOf(account, held.volumes, effectFor('network-volume', 'DELETES', 'LOSS', 'all its data is wiped')),
    ...counted.flatMap(([amount, what]) => (amount > 0 ? [{ ...effect(account, 'DELETES', 'LOSS', `${amount} ${what}`), amount }] : [])),
    ...rateEffect(account, nanosPerHour, 0),
  ]
}

function effectFor(kind: ChangedResource['kind'], does: ChangeEffect['kind'], severity: ChangeEffect['severity'], what: string) {
  return ({ id, name }: Thing) => effect({ kind, id, name }, does, severity, what)
}
