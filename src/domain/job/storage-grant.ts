/** How an endpoint's queue takes room of its team's budget: in slices, so that a submit asks nobody (PP-205, adr/0022). */

const MIB = 2 ** 20
/** What every endpoint may store without a grant. The number of endpoints is bounded, so all of it together is. */
const FREE_BYTES = 4 * MIB
/** What is asked for at a time, while there is as much. */
const SLICE_BYTES = 64 * MIB
/** What a text takes beside itself: rows, indexes, pages that are not full. */
const OVERHEAD_BYTES = 1_024
const OVERHEAD_FACTOR = 1.1
/** How long a refusal is repeated without asking again. */
export const REFUSED_MS = 5_000

/** What a text will take in the database. */
export function bytesToStore(chars: number): number {
  return Math.ceil(chars * OVERHEAD_FACTOR) + OVERHEAD_BYTES
}

/** What to ask for, best first: whole slices, else what is needed. Empty: there is room already. */
export function grantsToAskFor(neededBytes: number, grantedBytes: number): number[] {
  if (neededBytes <= Math.max(FREE_BYTES, grantedBytes)) return []
  const [slices, least] = [roundUp(neededBytes, SLICE_BYTES), roundUp(neededBytes, MIB)]
  return slices === least ? [least] : [slices, least]
}

/** What may come without another look, of what is granted when so much is stored. */
export function roomLeft(grantedBytes: number, storedBytes: number): number {
  return Math.max(0, Math.max(FREE_BYTES, grantedBytes) - storedBytes)
}

/** What a queue gives back when it holds far more than it stores; null: it keeps what it has. */
export function grantToKeep(storedBytes: number, grantedBytes: number): number | null {
  const kept = storedBytes <= FREE_BYTES ? 0 : roundUp(storedBytes, SLICE_BYTES)
  return kept < grantedBytes ? kept : null
}

function roundUp(bytes: number, step: number): number {
  return Math.ceil(bytes / step) * step
}
