import type { Place, Vault } from '../../platform/seal.ts'

/** The key that the members of a SLURM cluster know each other by, as the cluster's row keeps it. */
export function sealMungeKey(vault: Vault, clusterId: string, key: string): string {
  return vault.seal(placeOf(clusterId), key)
}

/** Throws when it cannot be opened: a member with another key would be of no use to the others. */
export function openMungeKey(vault: Vault, clusterId: string, sealed: string): string {
  const key = vault.open(placeOf(clusterId), sealed)
  if (key === null) throw new Error(`clusters ${clusterId} was sealed under a TOKEN_SECRET that this plane does not have`)
  return key
}

function placeOf(clusterId: string): Place {
  return ['clusters', clusterId, 'munge']
}
