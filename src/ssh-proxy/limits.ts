import { isIPv6 } from 'node:net'
import { fairCount } from '../host-protocol/fair-room.ts'

/** Limits of connections to the proxy (NET-24). */
export interface Limits {
  /** Connections of one address, and of all. */
  perAddress: number
  all: number
  /** Of these, connections that have not proven a key yet. */
  unauthenticatedPerAddress: number
  unauthenticated: number
  /** Connections of one address per minute that end without a proven key, above which the address is refused. */
  failuresPerMinute: number
}

/** The limits of every proxy (NET-24). */
export const LIMITS: Limits = { perAddress: 256, all: 2_048, unauthenticatedPerAddress: 64, unauthenticated: 256, failuresPerMinute: 60 }

/** Divisor of the reserve: one connection in this many is reserved for addresses that have none. */
const KEPT_OF = 16
const MINUTE_MS = 60_000
const MAX_FAILING = 10_000

interface Count {
  open: number
  unauthenticated: number
}

/** An accepted connection. */
export interface Entry {
  /** Marks the connection as having proven a key. */
  known(): void
  leave(): void
}

/** Decides which connections are accepted. Pure except for its clock. */
export class ConnectionLimits {
  private readonly limits: Limits
  private readonly now: () => number
  private readonly counts = new Map<string, Count>()
  private readonly failures = new Map<string, { count: number; untilMs: number }>()
  private readonly all: Count = { open: 0, unauthenticated: 0 }

  constructor(limits: Limits, now: () => number) {
    this.limits = limits
    this.now = now
  }

  /** Returns null when a limit is reached. */
  enter(address: string): Entry | null {
    const own = this.counts.get(address) ?? { open: 0, unauthenticated: 0 }
    const { perAddress, all, unauthenticatedPerAddress, unauthenticated } = this.limits
    if (own.open >= Math.min(perAddress, shareOf(all, this.all.open - own.open))) return null
    if (
      own.unauthenticated >= Math.min(unauthenticatedPerAddress, shareOf(unauthenticated, this.all.unauthenticated - own.unauthenticated))
    )
      return null
    if (this.all.open >= all || this.all.unauthenticated >= unauthenticated || this.hasFailed(address)) return null
    this.counts.set(address, own)
    for (const count of [own, this.all]) {
      count.open += 1
      count.unauthenticated += 1
    }
    return this.entryOf(address, own)
  }

  private entryOf(address: string, own: Count): Entry {
    let isUnauthenticated = true
    let isIn = true
    const greet = () => {
      if (!isUnauthenticated) return
      isUnauthenticated = false
      for (const count of [own, this.all]) count.unauthenticated -= 1
    }
    return {
      known: greet,
      leave: () => {
        if (!isIn) return
        isIn = false
        if (isUnauthenticated) this.noteFailure(address)
        greet()
        for (const count of [own, this.all]) count.open -= 1
        if (own.open === 0) this.counts.delete(address)
      },
    }
  }

  private hasFailed(address: string): boolean {
    const failed = this.failures.get(address)
    return failed !== undefined && failed.untilMs > this.now() && failed.count >= this.limits.failuresPerMinute
  }

  private noteFailure(address: string): void {
    const nowMs = this.now()
    const previous = this.failures.get(address)
    const isOver = previous === undefined || previous.untilMs <= nowMs
    if (isOver && this.failures.size >= MAX_FAILING) this.failures.clear()
    this.failures.set(address, isOver ? { count: 1, untilMs: nowMs + MINUTE_MS } : { ...previous, count: previous.count + 1 })
  }
}

/** Returns the source that counts as one address: for IPv6 its /64 network, the smallest that one customer has. */
export function sourceOf(address: string): string {
  if (!isIPv6(address) || address.toLowerCase().startsWith('::ffff:')) return address
  const [left = '', right] = address.split('::')
  const before = left.split(':').filter((part) => part !== '')
  const behind = (right ?? '').split(':').filter((part) => part !== '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - behind.length) }, () => '0')
  const network = [...before, ...zeros, ...behind].slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** Returns the maximum of one address: as much as it leaves to others (SHR-39). */
function shareOf(total: number, othersTake: number): number {
  return fairCount(total, Math.floor(total / KEPT_OF), othersTake)
}
