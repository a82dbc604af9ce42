import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'

type Said = Pick<ChangeEffect, 'kind' | 'what' | 'severity'>

/** An effect without an amount. */
export function effect(resource: ChangedResource, kind: Said['kind'], severity: Said['severity'], what: string): ChangeEffect {
  return { kind, resource, what, severity, amount: null }
}

const NANOS_PER_USD = 1_000_000_000

/** Effect of a changed rate, in USD per hour; empty when the rate stays. */
export function rateEffect(resource: ChangedResource, beforeNanos: number, afterNanos: number, more = ''): ChangeEffect[] {
  const amount = Math.abs(afterNanos - beforeNanos) / NANOS_PER_USD
  if (amount === 0) return []
  const isLess = afterNanos < beforeNanos
  const rate = `${usdText(beforeNanos)} USD per hour becomes ${usdText(afterNanos)}${more}`
  return [{ kind: isLess ? 'SAVES' : 'COSTS', resource, what: rate, severity: 'INFO', amount }]
}

/** USD of an amount in nano-USD, with four decimals, as plans write it. */
export function usdText(nanos: number): string {
  return (nanos / NANOS_PER_USD).toFixed(4)
}

/** Effect on a number of jobs, with a singular and a plural text; empty when the number is 0. */
export function jobsEffect(
  resource: ChangedResource,
  kind: 'CANCELS' | 'FINISHES' | 'STAYS' | 'WAITS',
  severity: Said['severity'],
  count: number,
  [ofOne, ofMany]: readonly [ofOne: string, ofMany: string],
): ChangeEffect[] {
  const what = count === 1 ? `1 job ${ofOne}` : `${count} jobs ${ofMany}`
  return count === 0 ? [] : [{ kind, resource, what, severity, amount: count }]
}

/** Effect of a change that asks for the present state. */
export function noEffect(resource: ChangedResource): ChangeEffect[] {
  return [effect(resource, 'STAYS', 'INFO', 'it already has this state; nothing changes')]
}

/** Maximum number of other resources that a plan names (DRY-5); it states the number of the remaining ones. */
export const MAX_NAMED = 100

const SEVERITIES = ['INFO', 'WARNING', 'LOSS'] as const

/**
 * Effects of a plan, limited so that it stays readable (DRY-5): all effects on the resource itself, the first `MAX_NAMED` on others, and
 * the number of the remaining ones by kind.
 */
export function bounded(resource: ChangedResource, effects: readonly ChangeEffect[]): ChangeEffect[] {
  const others = effects.filter((one) => !isAbout(one, resource))
  const rest = new Set(others.slice(MAX_NAMED))
  if (rest.size === 0) return [...effects]
  const shown = effects.filter((one) => !rest.has(one))
  return [...shown, ...[...Map.groupBy(rest, ({ kind }) => kind)].map(([kind, of]) => restEffect(resource, kind, of))]
}

function isAbout({ resource: { kind, id } }: ChangeEffect, resource: ChangedResource): boolean {
  return kind === resource.kind && id === resource.id
}

function restEffect(resource: ChangedResource, kind: ChangeEffect['kind'], of: readonly ChangeEffect[]): ChangeEffect {
  const severity = SEVERITIES.findLast((level) => of.some((one) => one.severity === level)) ?? 'INFO'
  return { kind, resource, what: `the same of ${of.length} more`, severity, amount: of.length }
}

/** The first rows of a query, and the number of all its rows. */
export interface Named<Row> {
  first: readonly Row[]
  total: number
}

/** The same effect on several resources: one line for each named row, and one line for all others together. */
export function eachOf<Row>(resource: ChangedResource, { first, total }: Named<Row>, effectOf: (row: Row) => ChangeEffect): ChangeEffect[] {
  const effects = first.map(effectOf)
  const [like] = effects
  const more = total - first.length
  if (!like || more <= 0) return effects
  return [...effects, { kind: like.kind, resource, what: `${more} more: ${like.what}`, severity: like.severity, amount: more }]
}
