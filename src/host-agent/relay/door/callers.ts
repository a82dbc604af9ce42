import { createHash } from 'node:crypto'
import type { Workload } from '../../../host-protocol/messages.ts'

/** The variable that holds a worker's key (WRK-2). */
const KEY_VARIABLE = 'RUNPOD_AI_API_KEY'
/** A caller from another address than is known is looked for again, because a container may have been connected anew, but not more often. */
const LOOK_AGAIN_MS = 5_000
/** No key is longer; what is, is not even hashed. */
const KEY_MAX_CHARS = 256

/** Finds out where a workload speaks from; none when it does not run. `loopback`: everybody does, so that the key alone tells them apart. */
export type Whereabouts = ((id: string) => Promise<readonly string[]>) | 'loopback'

interface Caller {
  id: string
  /** Undefined until the plane has said it again: containers of an agent that did not note it. */
  keyHash: string | undefined
  addresses: readonly string[]
  lookedAtMs: number
  looking: Promise<void> | undefined
}

/** The workers of a runtime, which alone may speak to its relay: by their key, and by the address of their container (HOST-75). */
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

  /** From now on this workload may speak; `keyHash` as `relayKeyHash` says. */
  admit(id: string, keyHash: string | undefined): void {
    this.release(id)
    const caller: Caller = { id, keyHash, addresses: [], lookedAtMs: Number.NEGATIVE_INFINITY, looking: undefined }
    this.byId.set(id, caller)
    if (keyHash !== undefined) this.byKey.set(keyHash, caller)
  }

  /** What the plane says of workloads that run already; their keys may not be known here. */
  learn(workloads: readonly Workload[]): void {
    for (const workload of workloads) {
      const caller = this.byId.get(workload.id)
      if (caller !== undefined && caller.keyHash === undefined) this.admit(workload.id, relayKeyHash(workload))
    }
  }

  /** Its container has ended: whoever has its address next is somebody else. */
  release(id: string): void {
    const caller = this.byId.get(id)
    if (caller === undefined) return
    this.byId.delete(id)
    if (caller.keyHash !== undefined) this.byKey.delete(caller.keyHash)
  }

  /** Whether a workload is known to speak from there. */
  isAt(address: string): boolean {
    return [...this.byId.values()].some(({ addresses }) => addresses.includes(address))
  }

  /** The workload that a request is of; undefined: a stranger's. */
  async identify(remoteAddress: string | undefined, authorization: string | undefined): Promise<string | undefined> {
    const caller = this.byKey.get(hashOf(authorization) ?? '')
    if (caller === undefined || remoteAddress === undefined) return undefined
    if (this.where === 'loopback') return isLoopback(remoteAddress) ? caller.id : undefined
    const address = plainAddress(remoteAddress)
    if (!caller.addresses.includes(address)) await this.look(caller, this.where)
    const isStill = this.byId.get(caller.id) === caller
    return isStill && caller.addresses.includes(address) ? caller.id : undefined
  }

  private async look(caller: Caller, where: Exclude<Whereabouts, 'loopback'>): Promise<void> {
    // One that has not been found yet is asked for again at once: it may have started meanwhile.
    const isTooSoon = caller.addresses.length > 0 && this.now() - caller.lookedAtMs < LOOK_AGAIN_MS
    if (isTooSoon && caller.looking === undefined) return
    caller.looking ??= where(caller.id)
      // An engine that does not answer now leaves what is known.
      .then(
        (addresses) => {
          caller.addresses = addresses
        },
        () => {},
      )
      .finally(() => {
        caller.lookedAtMs = this.now()
        caller.looking = undefined
      })
    await caller.looking
  }
}

/** What stands for a worker's key on this host; undefined for workloads that have no business at the relay. */
export function relayKeyHash({ kind, platformEnv }: Pick<Workload, 'kind' | 'platformEnv'>): string | undefined {
  return kind === 'worker' ? hashOf(platformEnv[KEY_VARIABLE]) : undefined
}

// Compared as hashes: how long a look-up takes tells nothing of a key.
function hashOf(authorization: string | undefined): string | undefined {
  const key = authorization?.replace(/^Bearer /i, '')
  if (key === undefined || key === '' || key.length > KEY_MAX_CHARS) return undefined
  return createHash('sha256').update(key).digest('hex')
}

/** An IPv4 address that came over an IPv6 socket is one all the same. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:/i, '')
}

export function isLoopback(address: string): boolean {
  return ['::1', '127.0.0.1'].includes(plainAddress(address))
}
