/**
 * How an endpoint's queue reserves a part of its team's storage budget: in slices, so that most submits need no request for storage
 * (BUDGET-3, adr/0022).
 */

const MIB = 2 ** 20
/** Bytes that every endpoint may store without a grant. The number of endpoints is bounded, and so is their sum. */
const FREE_BYTES = 4 * MIB
/** The size of one request for storage, while the budget has as much. */
const SLICE_BYTES = 64 * MIB
/** The bytes that a text takes beside itself: rows, indexes, pages that are not full. */
const OVERHEAD_BYTES = 1_024
const OVERHEAD_FACTOR = 1.1
/** How long a refusal is repeated without another request. */
export const REFUSED_MS = 5_000

/** The bytes that a text of `chars` characters takes in the database. */
export function bytesToStore(chars: number): number {
  return Math.ceil(chars * OVERHEAD_FACTOR) + OVERHEAD_BYTES
}

/** The grants to request, best first: whole slices, else the needed MiB. Empty: the current grant is enough. */
export function grantsToAskFor(neededBytes: number, grantedBytes: number): number[] {
  if (neededBytes <= Math.max(FREE_BYTES, grantedBytes)) return []
  const [slices, least] = [roundUp(neededBytes, SLICE_BYTES), roundUp(neededBytes, MIB)]
  return slices === least ? [least] : [slices, least]
}

/** The bytes that may be stored without another request, with this grant and so much stored. */
export function roomLeft(grantedBytes: number, storedBytes: number): number {
  return Math.max(0, Math.max(FREE_BYTES, grantedBytes) - storedBytes)
}

/** The grant that a queue reduces itself to when it has far more than it stores; null: it retains all of it. */
export function grantToRetain(storedBytes: number, grantedBytes: number): number | null {
  const kept = storedBytes <= FREE_BYTES ? 0 : roundUp(storedBytes, SLICE_BYTES)
  return kept < grantedBytes ? kept : null
}

function roundUp(bytes: number, step: number): number {
  return Math.ceil(bytes / step) * step
}
