/** Address ranges and member addresses of private networks that span hosts. Pure. */

/** Pool of networks of one kind. A cluster has up to 250 members, an account up to 1000 pods with global networking. */
export interface OverlayPool {
  /** VNI of the network in slot 0. */
  firstVni: number
  /** First address of the pool, as an unsigned 32-bit number. */
  first: number
  /** Prefix length of one network's range. */
  prefix: number
  /** Number of networks in the pool. */
  slots: number
}

/** The pools overlap neither each other nor 10.192.0.0/11, the range in which hosts allocate account networks. */
export const OVERLAY_POOLS: Record<'cluster' | 'account', OverlayPool> = {
  // 10.64.0.0/11
  cluster: { firstVni: 0x10_0000, first: 0x0a_40_00_00, prefix: 24, slots: 2 ** 13 },
  // 10.96.0.0/11
  account: { firstVni: 0x20_0000, first: 0x0a_60_00_00, prefix: 22, slots: 2 ** 11 },
}

/** VNI and CIDR range of the network in a slot. */
export function overlayOf(kind: 'cluster' | 'account', slot: number): { vni: number; cidr: string } {
  const { firstVni, first, prefix } = OVERLAY_POOLS[kind]
  return { vni: firstVni + slot, cidr: `${formatAddress(first + slot * 2 ** (32 - prefix))}/${prefix}` }
}

/**
 * Address of the member with this number. The first two addresses of a range belong to the network itself and are never assigned to a
 * member.
 */
export function memberAddress(kind: 'cluster' | 'account', slot: number, number: number): string {
  const { first, prefix } = OVERLAY_POOLS[kind]
  return formatAddress(first + slot * 2 ** (32 - prefix) + 2 + number)
}

/** Maximum number of members of a network of this kind: the size of its range without its first two addresses and its last one. */
export function overlayRoom(kind: 'cluster' | 'account'): number {
  return 2 ** (32 - OVERLAY_POOLS[kind].prefix) - 3
}

/** Lowest free member address of a network; null when the network is full. */
export function freeAddress(kind: 'cluster' | 'account', slot: number, taken: readonly string[]): string | null {
  const held = new Set(taken)
  for (let number = 0; number < overlayRoom(kind); number += 1) {
    const address = memberAddress(kind, slot, number)
    if (!held.has(address)) return address
  }
  return null
}

function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}
