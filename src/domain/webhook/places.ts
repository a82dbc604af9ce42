/**
 * Which webhook attempts may start beside those under way (PP-31, PP-140…PP-142). Pure.
 * A receiver is a scheme, host and port; a target is one of its paths.
 */

/** First attempts and those after a failure have places of their own: neither waits for the other. */
export const LANES = ['first', 'retry'] as const
export type Lane = (typeof LANES)[number]

/** An attempt that has started and not ended. */
export interface UnderWay {
  lane: Lane
  receiver: string
  target: string
  /** Length of its body. */
  bytes: number
}

/** What may start now in a lane that is not full: anything but these. */
export interface Openings {
  closedReceivers: readonly string[]
  closedTargets: readonly string[]
  /** The longest body there is memory for. */
  maxBytes: number
}

/** Attempts of an account under way in one lane. The last quarter is for receivers that hold no place in the lane. */
export const LANE_PLACES = 128
const SHARED_PLACES = (LANE_PLACES * 3) / 4
/** Bodies are sent piece by piece; this is the most that one attempt holds in memory, and all attempts of a lane together. */
const MAX_HELD_BYTES = 2 ** 20
export const LANE_BYTES = 32 * MAX_HELD_BYTES
const SHARED_BYTES = (LANE_BYTES * 3) / 4

/**
 * What may start in a lane; null when it is full. `failing` holds the targets whose last attempt failed, `perReceiver` is the
 * operator's bound on what is under way to one receiver, in both lanes together.
 */
export function openings(lane: Lane, underWay: readonly UnderWay[], failing: ReadonlySet<string>, perReceiver: number): Openings | null {
  const here = underWay.filter((attempt) => attempt.lane === lane)
  const heldBytes = here.reduce((sum, { bytes }) => sum + Math.min(bytes, MAX_HELD_BYTES), 0)
  if (here.length >= LANE_PLACES || heldBytes >= LANE_BYTES) return null
  const isCrowded = here.length >= SHARED_PLACES || heldBytes >= SHARED_BYTES
  const places = placesOfReceiver(lane, perReceiver)
  const freeBytes = LANE_BYTES - heldBytes
  return {
    closedReceivers: namesOf(here, 'receiver', (_, held) => isCrowded || held >= places),
    closedTargets: namesOf(here, 'target', (target, held) => held >= placesOfTarget(lane, places, failing.has(target))),
    maxBytes: freeBytes >= MAX_HELD_BYTES ? Number.MAX_SAFE_INTEGER : freeBytes,
  }
}

function placesOfReceiver(lane: Lane, perReceiver: number): number {
  return lane === 'first' ? Math.ceil(perReceiver / 2) : Math.floor(perReceiver / 2)
}

/**
 * Half and a quarter make three quarters: the retries of a path that begins to hang, those of its first attempts before that was
 * known and those of the few after it, find their places in time.
 */
function placesOfTarget(lane: Lane, places: number, isFailing: boolean): number {
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
