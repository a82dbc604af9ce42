/** One in so many parts is kept for whoever comes when one account has the host to itself. */
const RESERVE_OF_ONE = 4

/**
 * What one account may take in all of something that a host's accounts share and that cannot be taken back (HOST-147): as much as it leaves to
 * whoever comes next, and all but a reserve while nobody else has anything. However many take all that they may, there is room for the next
 * one. Pure.
 */
export function fairRoom(total: number, othersTake: number): number {
  if (othersTake <= 0) return total - Math.ceil(total / RESERVE_OF_ONE)
  return Math.max(0, Math.floor((total - othersTake) / 2))
}

/**
 * The same of things that are counted, the last `kept` of which are for accounts that hold none: one of them for each (SHR-30, SHR-34). Pure.
 */
export function fairCount(total: number, kept: number, othersTake: number): number {
  return Math.max(fairRoom(total - kept, othersTake), othersTake < total ? 1 : 0)
}
