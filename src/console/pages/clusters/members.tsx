import type { Cluster } from '../../../contract/clusters/clusters.ts'
import { State } from '../../parts/state.tsx'

/** Number of members in each state. */
export function Members({ pods: { total, byStatus } }: { pods: Cluster['pods'] }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      {Object.entries(byStatus).map(([status, number]) => (
        <span key={status} className="flex items-center gap-1">
          {number} <State value={status} />
        </span>
      ))}
      {total === 0 && 'none'}
    </span>
  )
}
