/** Ranges and addresses of private networks across hosts. Pure. */

/** A cluster has up to 250 members, an account up to 1000 pods with global networking. */
export interface OverlayPool {
  /** Number on the wire of the network in slot 0. */
  firstVni: number
  /** First address of the pool, as a number of 32 bits. */
  first: number
  /** Bits of a network's range. */
  prefix: number
  /** Networks of the pool. */
  slots: number
}

/** Apart from each other, and from the ranges that hosts cut the networks of accounts from (10.192.0.0/11). */
export const OVERLAY_POOLS: Record<'cluster' | 'account', OverlayPool> = {
  // 10.64.0.0/11
  cluster: { firstVni: 0x10_0000, first: 0x0a_40_00_00, prefix: 24, slots: 2 ** 13 },
  // 10.96.0.0/11
  account: { firstVni: 0x20_0000, first: 0x0a_60_00_00, prefix: 22, slots: 2 ** 11 },
}

/** A network by its slot: its number on the wire, and its range. */
export function overlayOf(kind: 'cluster' | 'account', slot: number): { vni: number; cidr: string } {
  const { firstVni, first, prefix } = OVERLAY_POOLS[kind]
  return { vni: firstVni + slot, cidr: `${formatAddress(first + slot * 2 ** (32 - prefix))}/${prefix}` }
}

/** The address of the member with this number; the first two of a range are the network's own and nobody's. */
export function memberAddress(kind: 'cluster' | 'account', slot: number, number: number): string {
  const { first, prefix } = OVERLAY_POOLS[kind]
  return formatAddress(first + slot * 2 ** (32 - prefix) + 2 + number)
}

/** How many members a network of this kind has room for: its range without the first two addresses and the last. */
export function overlayRoom(kind: 'cluster' | 'account'): number {
  return 2 ** (32 - OVERLAY_POOLS[kind].prefix) - 3
}

/** The first address of a network that nobody has; null: it is full. */
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
