import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'

type Said = Pick<ChangeEffect, 'kind' | 'what' | 'severity'>

/** An effect without a figure. */
export function effect(resource: ChangedResource, kind: Said['kind'], severity: Said['severity'], what: string): ChangeEffect {
  return { kind, resource, what, severity, amount: null }
}

const NANOS_PER_USD = 1_000_000_000

/** What a change of the rate saves or costs; nothing where it stays. */
export function rateEffect(resource: ChangedResource, beforeNanos: number, afterNanos: number): ChangeEffect[] {
  const amount = Math.abs(afterNanos - beforeNanos) / NANOS_PER_USD
  if (amount === 0) return []
  const isLess = afterNanos < beforeNanos
  const rate = `${(beforeNanos / NANOS_PER_USD).toFixed(4)} USD per hour becomes ${(afterNanos / NANOS_PER_USD).toFixed(4)}`
  return [{ kind: isLess ? 'SAVES' : 'COSTS', resource, what: rate, severity: 'INFO', amount }]
}

/** Jobs of an endpoint to which something happens; nothing where there are none. */
export function jobsEffect(
  resource: ChangedResource,
  kind: 'CANCELS' | 'FINISHES',
  severity: Said['severity'],
  count: number,
  what: string,
): ChangeEffect[] {
  return count === 0 ? [] : [{ kind, resource, what: `${count} ${count === 1 ? 'job' : 'jobs'} ${what}`, severity, amount: count }]
}
