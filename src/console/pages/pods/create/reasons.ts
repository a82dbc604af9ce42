import type { PodPlacementPreview } from '../../../../contract/pods/pods.ts'

/** Maximum number of shown reasons; the most frequent ones suffice to change the request. */
const MAX_REASONS = 5

/** A missing requirement that excludes hosts from a placement. */
export interface Reason {
  /** Requirement as in "needs 1 free NVIDIA L4". */
  text: string
  /** Number of hosts that lack it. */
  on: number
}

/** Missing requirements with the number of hosts that lack each, most frequent first, at most `MAX_REASONS`. */
export function reasonsOf(hosts: PodPlacementPreview['hosts']): Reason[] {
  const counts = new Map<string, number>()
  for (const { failed } of hosts) {
    for (const text of new Set(failed)) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts]
    .map(([text, on]) => ({ text, on }))
    .toSorted((a, b) => b.on - a.on)
    .slice(0, MAX_REASONS)
}
