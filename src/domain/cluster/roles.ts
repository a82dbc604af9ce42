import type { ClusterRole, ClusterType } from '../../contract/enums.ts'

/** The role of a member by its rank (CLU-9); null: its cluster's type has no roles. Pure. */
export function roleOf(type: ClusterType, rank: number): ClusterRole | null {
  if (type === 'SLURM') return rank === 0 ? 'SLURM_CONTROLLER' : 'SLURM_COMPUTE'
  if (type === 'RAY') return rank === 0 ? 'RAY_HEAD' : 'RAY_WORKER'
  return null
}
