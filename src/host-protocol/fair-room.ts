/** Divisor of the reserve: a single account leaves one part in this many for the next account. */
const RESERVE_OF_ONE = 4

/**
 * Returns the maximum of one account in a resource that a host's accounts share and that cannot be taken back (HOST-147): half of what the
 * others leave, and all but a reserve while no other account uses any. However many accounts use their maximum, there is space for the next
 * one. Pure.
 */
export function fairRoom(total: number, othersTake: number): number {
  if (othersTake <= 0) return total - Math.ceil(total / RESERVE_OF_ONE)
  return Math.max(0, Math.floor((total - othersTake) / 2))
}

/** Returns the same for counted things, the last `kept` of which are for accounts that have none: one for each (SHR-30, SHR-34). Pure. */
export function fairCount(total: number, kept: number, othersTake: number): number {
  return Math.max(fairRoom(total - kept, othersTake), othersTake < total ? 1 : 0)
}
