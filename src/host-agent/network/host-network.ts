import { networkInterfaces } from 'node:os'
import type { Isolation, PortRange } from '../../host-protocol/messages.ts'
import { readTextFile } from '../../node/text-file.ts'
import type { DockerEngine } from '../engine/engine.ts'
import { engineText } from '../engine/engine-errors.ts'
import { HOST_LABEL } from '../engine/labels.ts'
import type { Log } from '../log.ts'
import { StartError } from '../runtime.ts'
import { AccountNetworks } from './account-networks.ts'
import { loadAgentKey } from './agent-key.ts'
import { boundsOf } from './connection-bounds.ts'
import { parseNameServers, readResolverFiles } from './dns/resolvers.ts'
import { bridgeName } from './names.ts'
import { NFT, type Nft } from './nft.ts'
import { PacketFilter } from './packet-filter.ts'
import { isLoopback } from './published-address.ts'
import type { Reach } from './rules.ts'
import { parseRoutes } from './subnets.ts'

/** Account of a test network that shows where the engine creates networks. Ids of the plane have no dot. */
const PROBE = '.probe'
const KEEP_EVERY_MS = 10_000
/** Interval of the removal of unused networks; an account whose workers come and go retains its network in between. */
const TIDY_EVERY_MS = 60_000
const NOT_HERE =
  'the container engine creates its networks elsewhere: in a virtual machine, on another machine, or in a namespace of its own'
const UNSET = 'the isolation rules for containers cannot be set; no container starts until they are set'
const NOT_CHECKED = "it is not known which containers are on the container engine's own network"
const STILL_SHARED = "earlier containers are on the container engine's own network until they end or restart"
/** Name of the engine's own network. */
const DEFAULT_NETWORK = 'bridge'
const REASON_MAX_CHARS = 300
/** Size of the kernel's connection table, which an operator may have raised. */
const CONNECTIONS_MAX = '/proc/sys/net/netfilter/nf_conntrack_max'

/** State of containers on the engine's own network. Once a check has found none (`checked`), none can appear. */
interface Shared {
  problem: string | null
  checked?: true
}

export interface HostNetworkDeps {
  options: { stateDir: string; allowNetworks: readonly string[]; trustedTenants: boolean; publicIp: string | null; portRange: PortRange }
  engine: DockerEngine
  log: Log
  /** Host id of a previous agent process; undefined: there was none. */
  hostId?: string | undefined
  nft?: Nft
  /** Whether this machine has a network interface of this name. */
  hasInterface?(name: string): boolean
}

/** The networks of this host's containers, and the rules that isolate them where the machine can enforce these. */
export class HostNetwork {
  /** Called when `isolation` has changed, which the agent reports to the plane. */
  onIsolationChange: () => void = () => {}
  private readonly deps: HostNetworkDeps
  private readonly networks: AccountNetworks
  private readonly filter: PacketFilter | undefined
  private relay: Reach['relay']
  private names: Reach['names']
  private timers: NodeJS.Timeout[] = []
  /** Reason why this machine cannot isolate containers; null: it can. */
  readonly hindrance: string | null
  private shared: Shared = { problem: null }

  private constructor(deps: HostNetworkDeps, networks: AccountNetworks, filter: PacketFilter, hindrance: string | null) {
    this.deps = deps
    this.networks = networks
    this.filter = hindrance === null ? filter : undefined
    this.hindrance = hindrance
  }

  /** Isolation state for the plane (HOST-84). */
  get isolation(): Isolation {
    const reason = this.hindrance ?? this.shared.problem
    return { network: reason === null, networkReason: reason, trustedTenants: this.deps.options.trustedTenants }
  }

  /** Finds out which rules this machine can enforce. */
  static async open(deps: HostNetworkDeps): Promise<HostNetwork> {
    const { engine, log, options, nft = NFT } = deps
    const key = loadAgentKey(options.stateDir)
    const networks = new AccountNetworks({ key, engine, log, routes: () => parseRoutes(readTextFile('/proc/net/route') ?? '') })
    const filter = new PacketFilter(key, nft, log)
    const hindrance = await findHindrance(deps, { key, networks, filter })
    if (hindrance !== null) log.warn('the containers of several accounts are not isolated on this host', { reason: hindrance })
    const opened = new HostNetwork(deps, networks, filter, hindrance)
    await opened.checkShared()
    if (opened.shared.problem !== null)
      log.warn('the containers of several accounts are not all isolated yet', { reason: opened.shared.problem })
    return opened
  }

  /** Whether the packet filter can redirect containers to a name server of the agent. */
  get leadsToNames(): boolean {
    return this.filter?.leadsToNames === true
  }

  /** Sets the rules, and restores them and removes unused networks periodically. */
  async start(relay: { address: string; port: number }, names?: { address: string; port: number }): Promise<void> {
    this.relay = relay
    this.names = names
    this.stopTimers()
    await this.keep().catch((error: unknown) => this.deps.log.error(UNSET, { error: engineText(error) }))
    this.timers = [
      this.every(KEEP_EVERY_MS, () => this.keep(), UNSET),
      this.every(KEEP_EVERY_MS, () => this.checkShared(), NOT_CHECKED),
      this.every(TIDY_EVERY_MS, () => this.networks.tidy(), 'networks without containers could not be removed'),
    ]
  }

  /** Runs `use` with the network of an account. Throws a `StartError` when there is no network, or when it would be without its rules. */
  async within<T>(account: string, use: (network: string) => Promise<T>): Promise<T> {
    return await this.networks.hold(account, async () => await use(await this.provide(account)))
  }

  private async provide(account: string): Promise<string> {
    try {
      await this.keep()
      return await this.networks.provide(account)
    } catch (error) {
      this.deps.log.error('there is no network for a container', { account, error: engineText(error) })
      // A host without a packet filter reports no isolation, so the engine's own network is allowed.
      if (this.filter === undefined) return DEFAULT_NETWORK
      throw new StartError('this host could not give the container a network of its own')
    }
  }

  /**
   * Checks for containers on the engine's own network: those of an agent without account networks stay there until they end (HOST-110). No
   * new container joins it.
   */
  private async checkShared(): Promise<void> {
    const { engine, hostId, log } = this.deps
    if (this.hindrance !== null || hostId === undefined || this.shared.checked) return
    const before = this.shared.problem
    try {
      const running = (await engine.list(`${HOST_LABEL}=${hostId}`)).filter(({ status }) => status !== 'exited' && status !== 'dead')
      const count = running.filter(({ networks }) => networks.includes(DEFAULT_NETWORK)).length
      this.shared = count === 0 ? { problem: null, checked: true } : { problem: `${count} ${STILL_SHARED}` }
    } catch (error) {
      log.warn(NOT_CHECKED, { error: engineText(error) })
      this.shared = { problem: NOT_CHECKED }
    }
    if (this.shared.problem !== before) this.onIsolationChange()
  }

  private async keep(): Promise<void> {
    await this.filter?.keep(this.reach())
  }

  private reach(): Reach {
    const { allowNetworks, publicIp, portRange } = this.deps.options
    return {
      relay: this.relay,
      names: this.names,
      nameServers: parseNameServers(readResolverFiles()).toSorted(),
      allowed: allowNetworks,
      published: isOwnPublic(publicIp) ? { address: publicIp, ...portRange } : undefined,
      connections: boundsOf(readTextFile(CONNECTIONS_MAX) ?? ''),
    }
  }

  private every(ms: number, act: () => Promise<unknown>, text: string): NodeJS.Timeout {
    return setInterval(() => void act().catch((error: unknown) => this.deps.log.error(text, { error: engineText(error) })), ms)
  }

  private stopTimers(): void {
    for (const timer of this.timers) clearInterval(timer)
  }

  /** Leaves what containers still need: the rules are removed with the last network. */
  async close(): Promise<void> {
    this.stopTimers()
    try {
      if ((await this.networks.tidy()) === 0) await this.filter?.remove()
    } catch (error) {
      this.deps.log.debug('networks stay for the next agent process', { error: engineText(error) })
    }
  }
}

/** Addresses of this machine's interfaces. */
export function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)))
}

function isOwnPublic(address: string | null): address is string {
  return address?.includes('.') === true && !isLoopback(address) && ownAddresses().has(address)
}

/** Reason why this machine cannot isolate containers; null when it can. */
async function findHindrance(
  { hasInterface = isInterface }: HostNetworkDeps,
  { key, networks, filter }: { key: string; networks: AccountNetworks; filter: PacketFilter },
): Promise<string | null> {
  try {
    if (process.platform !== 'linux') return NOT_HERE
    await filter.tryOut()
  } catch (error) {
    return `nft: ${engineText(error)}; the agent needs the program nft, and root`.slice(0, REASON_MAX_CHARS)
  }
  try {
    const isHere = await networks.hold(PROBE, async () => {
      await networks.provide(PROBE)
      return hasInterface(bridgeName(key, PROBE))
    })
    await networks.tidy()
    return isHere ? null : NOT_HERE
  } catch (error) {
    return `the container engine cannot create networks: ${engineText(error)}`.slice(0, REASON_MAX_CHARS)
  }
}

function isInterface(name: string): boolean {
  const lines = (readTextFile('/proc/net/dev') ?? '').split('\n')
  return lines.some((line) => line.trimStart().startsWith(`${name}:`))
}
