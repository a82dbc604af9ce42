/**
 * Concurrency limits of webhook attempts (HOOK-11, HOOK-18…HOOK-20). Pure. A receiver is a scheme, host and port; a target is one of its
 * paths.
 */

/** First attempts and retries have places of their own, so that neither waits for the other. */
export const LANES = ['first', 'retry'] as const
export type Lane = (typeof LANES)[number]

/** An attempt in progress. */
export interface UnderWay {
  lane: Lane
  receiver: string
  target: string
  /** Length of its body. */
  bytes: number
}

/** Restrictions on the next attempt of a lane that is not full. */
export interface Openings {
  closedReceivers: readonly string[]
  closedTargets: readonly string[]
  /** Longest body for which there is memory. */
  maxBytes: number
}

/** Maximum number of concurrent attempts of an account in one lane. The last quarter is for receivers without an attempt in the lane. */
export const LANE_SLOTS = 128
const SHARED_SLOTS = (LANE_SLOTS * 3) / 4
/** Maximum memory of one attempt, whose body is sent piece by piece, and of all attempts of a lane together. */
const MAX_HELD_BYTES = 2 ** 20
export const LANE_BYTES = 32 * MAX_HELD_BYTES
const SHARED_BYTES = (LANE_BYTES * 3) / 4

/**
 * Restrictions on the next attempt of a lane; null when the lane is full. `failing` holds the targets whose last attempt failed,
 * `perReceiver` is the operator's limit of concurrent attempts to one receiver, in both lanes together.
 */
export function openings(lane: Lane, underWay: readonly UnderWay[], failing: ReadonlySet<string>, perReceiver: number): Openings | null {
  const here = underWay.filter((attempt) => attempt.lane === lane)
  const heldBytes = here.reduce((sum, { bytes }) => sum + Math.min(bytes, MAX_HELD_BYTES), 0)
  if (here.length >= LANE_SLOTS || heldBytes >= LANE_BYTES) return null
  const isCrowded = here.length >= SHARED_SLOTS || heldBytes >= SHARED_BYTES
  const places = slotsOfReceiver(lane, perReceiver)
  const freeBytes = LANE_BYTES - heldBytes
  return {
    closedReceivers: namesOf(here, 'receiver', (_, held) => isCrowded || held >= places),
    closedTargets: namesOf(here, 'target', (target, held) => held >= slotsOfTarget(lane, places, failing.has(target))),
    maxBytes: freeBytes >= MAX_HELD_BYTES ? Number.MAX_SAFE_INTEGER : freeBytes,
  }
}

function slotsOfReceiver(lane: Lane, perReceiver: number): number {
  return lane === 'first' ? Math.ceil(perReceiver / 2) : Math.floor(perReceiver / 2)
}

/**
 * When a target begins to hang, up to half of the places hold first attempts started before its first failure, and up to a quarter hold
 * those started after it. Together they make the three quarters that its retries may take, so all these retries find places in time.
 */
function slotsOfTarget(lane: Lane, places: number, isFailing: boolean): number {
  if (lane === 'retry') return share(places, 3 / 4)
  return share(places, isFailing ? 1 / 4 : 1 / 2)
}

function share(places: number, part: number): number {
  return Math.max(1, Math.floor(places * part))
}

function namesOf(attempts: readonly UnderWay[], key: 'receiver' | 'target', isClosed: (name: string, held: number) => boolean): string[] {
  const held = new Map<string, number>()
  for (const attempt of attempts) held.set(attempt[key], (held.get(attempt[key]) ?? 0) + 1)
  return [...held].filter(([name, count]) => isClosed(name, count)).map(([name]) => name)
}
