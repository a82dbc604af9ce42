import type { PlacementHost } from '../host/placement.ts'

/** The hosts that a search looks at. Pure. */

/**
 * Those that can take new work of an account at all, each once where several are alike: for whether something fits they are the same, so a
 * large fleet of one kind costs as much as one machine of it (WHY-9).
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

/** Those that can take new work of an account at all. */
export function openHosts(teamId: string, hosts: readonly PlacementHost[]): PlacementHost[] {
  return hosts.filter((host) => host.online && !host.cordoned && !host.heldBy?.some((account) => account !== teamId))
}

function kindOf({ id: _id, requiredClasses: _same, heldBy: _held, publicIp: _ip, ...kind }: PlacementHost): string {
  return JSON.stringify(kind)
}
