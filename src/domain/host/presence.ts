import { BEAT_INTERVAL_MS, HOST_LEASE_MS } from '../../host-protocol/messages.ts'
import { silenceWaitMs } from '../../host-protocol/silence.ts'

/** Decides whether a host is there by its heartbeats alone: they are timed on the plane's clock, whatever the host's clock says. Pure. */

/** LIVE: sends heartbeats. SUSPECT: misses heartbeats. OFFLINE: its lease is over. LOST: offline for so long that nothing waits for it. */
export type PresenceStage = 'LIVE' | 'SUSPECT' | 'OFFLINE' | 'LOST'

/** A host without a heartbeat for this long gets no new workloads. */
export const SUSPECT_AFTER_MS = 3 * BEAT_INTERVAL_MS
/** A host whose link was seen to close has this long to link again before it counts as offline. */
export const RECONNECT_GRACE_MS = 10_000

/** The facts from which the presence of a host is judged. */
export interface PresenceFacts {
  stage: PresenceStage
  /** The start of the silence: the last heartbeat, or the time when the plane itself was back (HOST-35). */
  heardAtMs: number
  /** When its last link was seen to close; null while it has a link, and if the plane did not see it close. */
  linkClosedAtMs: number | null
  /** When the host went offline; null at other stages. */
  offlineAtMs: number | null
  lostAfterMs: number
}

/** The stage at `nowMs`, and when to decide again if nothing happens; null: never. Only a new link brings a host back. */
export function judgePresence(facts: PresenceFacts, nowMs: number): { stage: PresenceStage; nextAtMs: number | null } {
  if (facts.stage === 'LOST') return { stage: 'LOST', nextAtMs: null }
  if (facts.stage === 'OFFLINE') {
    const lostAtMs = (facts.offlineAtMs ?? nowMs) + facts.lostAfterMs
    return nowMs >= lostAtMs ? { stage: 'LOST', nextAtMs: null } : { stage: 'OFFLINE', nextAtMs: lostAtMs }
  }
  const offlineAtMs = leaseEndMs(facts)
  if (nowMs >= offlineAtMs) return { stage: 'OFFLINE', nextAtMs: nowMs + facts.lostAfterMs }
  const suspectAtMs = facts.heardAtMs + SUSPECT_AFTER_MS
  if (nowMs >= suspectAtMs) return { stage: 'SUSPECT', nextAtMs: offlineAtMs }
  return { stage: 'LIVE', nextAtMs: Math.min(suspectAtMs, offlineAtMs) }
}

function leaseEndMs({ heardAtMs, linkClosedAtMs }: PresenceFacts): number {
  const leaseEnd = heardAtMs + HOST_LEASE_MS
  return linkClosedAtMs === null ? leaseEnd : Math.min(leaseEnd, Math.max(heardAtMs, linkClosedAtMs) + RECONNECT_GRACE_MS)
}

/**
 * HOST-36: the instant until which a job that started at `startedAtMs` waits for its host, silent since `heardAtMs`. Null: no job waits.
 */
export function requeueNotBeforeMs(heardAtMs: number, startedAtMs: number | null, maxMs: number): number {
  return heardAtMs + silenceWaitMs(heardAtMs - (startedAtMs ?? heardAtMs), maxMs)
}

/**
 * When the check of a host was due at the latest; null: none was set. `storedMs` is the time as last stored, which may be a minute ago while
 * a live host has a link: it is checked before it can be suspect. At all other times each change is stored.
 */
export function checkDueAtMs(facts: Pick<PresenceFacts, 'stage' | 'heardAtMs' | 'linkClosedAtMs'>, storedMs: number | null): number | null {
  const isExact = facts.stage !== 'LIVE' || facts.linkClosedAtMs !== null
  return storedMs === null || isExact ? storedMs : Math.max(storedMs, facts.heardAtMs + SUSPECT_AFTER_MS)
}

/** HOST-35: an alarm that is this late shows that the plane was down, not the host. */
export function planeWasAway(dueAtMs: number, nowMs: number): boolean {
  return nowMs - dueAtMs > HOST_LEASE_MS
}
