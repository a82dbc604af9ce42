import type { PodSpec } from '../domain/pod/record.ts'
import type { Place, Vault } from '../platform/seal.ts'
import { openContainer, openVariables, sealContainer, sealVariables } from './sealed-env.ts'
import type { pods, SealedPodSpec } from './tables/workloads/pods.ts'

export type RetainedPodRow = typeof pods.$inferSelect
/** A stored pod with its spec opened; also the input and output of the rules of `src/domain/pod`. */
export type PodRow = Omit<RetainedPodRow, 'spec'> & { spec: PodSpec }

type Whose = Pick<RetainedPodRow, 'id' | 'teamId'>

/** Seals the environment variables of a user and the plane in a spec, for this row. */
export function sealPodSpec(vault: Vault, whose: Whose, { accessEnv, ...spec }: PodSpec): SealedPodSpec {
  const sealed = sealContainer(vault, placeOf(whose, 'env'), spec)
  return accessEnv ? { ...sealed, sealedAccessEnv: sealVariables(vault, placeOf(whose, 'accessEnv'), accessEnv) } : sealed
}

/** Opens a stored row. Throws when its environment cannot be opened. */
export function openPod(vault: Vault, row: RetainedPodRow): PodRow {
  const { sealedAccessEnv, ...spec } = row.spec
  const opened = openContainer<PodSpec>(vault, placeOf(row, 'env'), spec)
  if (sealedAccessEnv === undefined) return { ...row, spec: opened }
  return { ...row, spec: { ...opened, accessEnv: openVariables(vault, placeOf(row, 'accessEnv'), sealedAccessEnv) } }
}

function placeOf({ id, teamId }: Whose, field: string): Place {
  return ['pods', id, field, teamId]
}
