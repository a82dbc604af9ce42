import { BEAT_INTERVAL_MS, HOST_LEASE_MS } from '../../host-protocol/messages.ts'
import { silenceWaitMs } from '../../host-protocol/silence.ts'

/** Whether a machine is there, judged by its beats alone: they arrive on the plane's clock, whatever the machine's says. Pure. */

/** LIVE: beats. SUSPECT: misses beats. OFFLINE: its lease is over. LOST: offline for so long that nobody waits for it. */
export type PresenceStage = 'LIVE' | 'SUSPECT' | 'OFFLINE' | 'LOST'

/** A host that misses this much is not given new work. */
export const SUSPECT_AFTER_MS = 3 * BEAT_INTERVAL_MS
/** A link that was seen to close gets this long to come back before the host counts as offline. */
export const RECONNECT_GRACE_MS = 10_000

export interface PresenceFacts {
  stage: PresenceStage
  /** From when silence counts: the last beat, or when the plane itself was back (HOST-35). */
  heardAtMs: number
  /** When its last link was seen to close; null while it has one, and when nobody saw the end of it. */
  linkClosedAtMs: number | null
  /** Of a host that is OFFLINE. */
  offlineAtMs: number | null
  lostAfterMs: number
}

/** The stage at `nowMs`, and when to look again although nothing happens; null: never. Only a new link brings a host back. */
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

/** HOST-36: until then a job that started at `startedAtMs` waits for its host, which fell silent at `heardAtMs`. Null: it is about no job. */
export function requeueNotBeforeMs(heardAtMs: number, startedAtMs: number | null, maxMs: number): number {
  return heardAtMs + silenceWaitMs(heardAtMs - (startedAtMs ?? heardAtMs), maxMs)
}

/** HOST-35: an alarm that came this late says that the plane was away, not the host. */
export function planeWasAway(dueAtMs: number, nowMs: number): boolean {
  return nowMs - dueAtMs > HOST_LEASE_MS
}
