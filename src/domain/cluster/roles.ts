import type { ClusterRole, ClusterType } from '../../contract/enums.ts'

/** What a member is by its rank (CLU-9); null: its cluster's type knows no roles. Pure. */
export function roleOf(type: ClusterType, rank: number): ClusterRole | null {
  if (type === 'SLURM') return rank === 0 ? 'SLURM_CONTROLLER' : 'SLURM_COMPUTE'
  if (type === 'RAY') return rank === 0 ? 'RAY_HEAD' : 'RAY_WORKER'
  return null
}
