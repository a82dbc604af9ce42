import type { Place, Vault } from '../../platform/seal.ts'

/** Seals the key with which the members of a SLURM cluster authenticate each other, for the cluster's row. */
export function sealMungeKey(vault: Vault, clusterId: string, key: string): string {
  return vault.seal(placeOf(clusterId), key)
}

/** Opens the munge key. Throws when it cannot be opened: a member with another key could not talk to the others. */
export function openMungeKey(vault: Vault, clusterId: string, sealed: string): string {
  const key = vault.open(placeOf(clusterId), sealed)
  if (key === null) throw new Error(`clusters ${clusterId} was sealed under a TOKEN_SECRET that this plane does not have`)
  return key
}

function placeOf(clusterId: string): Place {
  return ['clusters', clusterId, 'munge']
}
