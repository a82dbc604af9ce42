import { createHash } from 'node:crypto'
import type { Workload } from '../../../host-protocol/messages.ts'

/** The variable that holds a worker's key (WRK-2). */
const KEY_VARIABLE = 'RUNPOD_AI_API_KEY'
/**
 * Minimum interval between address lookups for a worker that calls from an unknown address: its container may have been connected again.
 */
const RETRY_AFTER_MS = 5_000
/** No key is longer; a longer one is refused before it is hashed. */
const KEY_MAX_CHARS = 256

/**
 * Returns the addresses of a workload; none when it is not running. `loopback`: all workloads call from loopback, so that only the key
 * distinguishes them.
 */
export type Whereabouts = ((id: string) => Promise<readonly string[]>) | 'loopback'

interface Caller {
  id: string
  /** Undefined for containers of an agent that did not store it, until the plane has sent the workload. */
  keyHash: string | undefined
  addresses: readonly string[]
  resolvedAtMs: number
  resolving: Promise<void> | undefined
}

/**
 * The workers of a runtime, the only callers of its relay. They are identified by their key and the address of their container (HOST-75).
 */
export class RelayCallers {
  private readonly where: Whereabouts
  private readonly now: () => number
  private readonly byId = new Map<string, Caller>()
  private readonly byKey = new Map<string, Caller>()

  constructor(where: Whereabouts, now: () => number = () => performance.now()) {
    this.where = where
    this.now = now
  }

  get count(): number {
    return this.byId.size
  }

  /** Admits a workload; `keyHash` is the result of `relayKeyHash`. */
  admit(id: string, keyHash: string | undefined): void {
    this.release(id)
    const caller: Caller = { id, keyHash, addresses: [], resolvedAtMs: Number.NEGATIVE_INFINITY, resolving: undefined }
    this.byId.set(id, caller)
    if (keyHash !== undefined) this.byKey.set(keyHash, caller)
  }

  /** Adds missing key hashes of running workloads from the plane's desired state. */
  update(workloads: readonly Workload[]): void {
    for (const workload of workloads) {
      const caller = this.byId.get(workload.id)
      if (caller !== undefined && caller.keyHash === undefined) this.admit(workload.id, relayKeyHash(workload))
    }
  }

  /** Removes a workload whose container has ended: its address may be reused by another container. */
  release(id: string): void {
    const caller = this.byId.get(id)
    if (caller === undefined) return
    this.byId.delete(id)
    if (caller.keyHash !== undefined) this.byKey.delete(caller.keyHash)
  }

  /** Whether an address belongs to a known workload. */
  isAt(address: string): boolean {
    return [...this.byId.values()].some(({ addresses }) => addresses.includes(address))
  }

  /** Returns the id of the workload that sent a request; undefined: the caller is unknown. */
  async identify(remoteAddress: string | undefined, authorization: string | undefined): Promise<string | undefined> {
    const caller = this.byKey.get(hashOf(authorization) ?? '')
    if (caller === undefined || remoteAddress === undefined) return undefined
    if (this.where === 'loopback') return isLoopback(remoteAddress) ? caller.id : undefined
    const address = plainAddress(remoteAddress)
    if (!caller.addresses.includes(address)) await this.resolve(caller, this.where)
    const isStill = this.byId.get(caller.id) === caller
    return isStill && caller.addresses.includes(address) ? caller.id : undefined
  }

  private async resolve(caller: Caller, where: Exclude<Whereabouts, 'loopback'>): Promise<void> {
    // If no address has been found yet, the lookup is repeated at once: the container may have started meanwhile.
    const isTooSoon = caller.addresses.length > 0 && this.now() - caller.resolvedAtMs < RETRY_AFTER_MS
    if (isTooSoon && caller.resolving === undefined) return
    caller.resolving ??= where(caller.id)
      // When the engine does not answer, the known addresses stay.
      .then(
        (addresses) => {
          caller.addresses = addresses
        },
        () => {},
      )
      .finally(() => {
        caller.resolvedAtMs = this.now()
        caller.resolving = undefined
      })
    await caller.resolving
  }
}

/** Returns the hash that represents a worker's key on this host; undefined for workloads that may not use the relay. */
export function relayKeyHash({ kind, platformEnv }: Pick<Workload, 'kind' | 'platformEnv'>): string | undefined {
  return kind === 'worker' ? hashOf(platformEnv[KEY_VARIABLE]) : undefined
}

// Keys are compared as hashes, so that the duration of a lookup reveals nothing about a key.
function hashOf(authorization: string | undefined): string | undefined {
  const key = authorization?.replace(/^Bearer /i, '')
  if (key === undefined || key === '' || key.length > KEY_MAX_CHARS) return undefined
  return createHash('sha256').update(key).digest('hex')
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address, others unchanged. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:/i, '')
}

/** Whether a peer address is this machine's own, also as an IPv4 address in IPv6 form. */
export function isLoopback(address: string): boolean {
  return ['::1', '127.0.0.1'].includes(plainAddress(address))
}
