import type { PlacementHost } from '../host/placement.ts'

/** Hosts that a search considers. Pure. */

/**
 * Hosts that accept new workloads of an account, one of each group of equal hosts. For the question of fit such hosts are the same, so a
 * large fleet of one kind costs as much as one host (WHY-9).
 */
export function searchedHosts(teamId: string, hosts: readonly PlacementHost[]): PlacementHost[] {
  const seen = new Set<string>()
  return openHosts(teamId, hosts).filter((host) => {
    const kind = kindOf(host)
    if (seen.has(kind)) return false
    seen.add(kind)
    return true
  })
}

/** Hosts that accept new workloads of an account. */
export function openHosts(teamId: string, hosts: readonly PlacementHost[]): PlacementHost[] {
  return hosts.filter((host) => host.online && !host.cordoned && !host.heldBy?.some((account) => account !== teamId))
}

function kindOf({ id: _id, requiredClasses: _same, heldBy: _held, publicIp: _ip, ...kind }: PlacementHost): string {
  return JSON.stringify(kind)
}
