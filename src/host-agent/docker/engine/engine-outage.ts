/** A time in which the container engine did not answer, by this machine's clock, milliseconds. */
export interface Outage {
  fromMs: number
  toMs: number
}

/**
 * The engine ends its containers before it stops to answer and before it answers again, and it is asked every ten seconds only. Failures
 * further apart than this are two outages.
 */
const MARGIN_MS = 30_000

/** The outage that a failure at `nowMs` belongs to: the former one, when that is not long ago, or a new one. */
export function extendOutage(former: Outage | undefined, nowMs: number): Outage {
  return { fromMs: former !== undefined && nowMs - former.toMs <= MARGIN_MS ? former.fromMs : nowMs, toMs: nowMs }
}

/** Whether a container went with its engine (HOST-62); with live-restore it goes on, and ends some other time. */
export function endedByOutage(endedAtMs: number | null, outage: Outage | undefined): boolean {
  if (endedAtMs === null || outage === undefined) return false
  return endedAtMs >= outage.fromMs - MARGIN_MS && endedAtMs <= outage.toMs + MARGIN_MS
}
