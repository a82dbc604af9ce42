import type { PodPlacementPreview } from '../../../../contract/pods/pods.ts'

/** Machines lack things by the dozen; the first few tell what to change. */
const MAX_REASONS = 5

export interface Reason {
  /** As in "needs 1 free NVIDIA L4". */
  text: string
  /** On how many machines it is missing. */
  on: number
}

/** On how many machines each thing is missing, the most frequent first. */
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
