/** A period in which the container engine did not answer, by this machine's clock, milliseconds. */
export interface Outage {
  fromMs: number
  toMs: number
}

/**
 * The engine ends its containers some time before it stops answering and before it answers again, and the agent calls it only every ten
 * seconds. Failures further apart than this are two outages.
 */
const MARGIN_MS = 30_000

/** The outage to which a failure at `nowMs` belongs: the previous one, when that was recent, or a new one. */
export function extendOutage(previous: Outage | undefined, nowMs: number): Outage {
  return { fromMs: previous !== undefined && nowMs - previous.toMs <= MARGIN_MS ? previous.fromMs : nowMs, toMs: nowMs }
}

/** Whether a container ended with its engine (HOST-62); with live-restore it continues and ends at another time. */
export function endedByOutage(endedAtMs: number | null, outage: Outage | undefined): boolean {
  if (endedAtMs === null || outage === undefined) return false
  return endedAtMs >= outage.fromMs - MARGIN_MS && endedAtMs <= outage.toMs + MARGIN_MS
}
