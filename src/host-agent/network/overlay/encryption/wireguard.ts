import { WIREGUARD_PORT } from '../../../../host-protocol/overlays.ts'
import type { RunProgram } from '../../run-program.ts'
import type { Link } from '../ip-tools.ts'
import type { HostKey } from './host-key.ts'
import { routeTable, wireDevice } from './wire-names.ts'
import { readPeers, rulesOf, type WirePeer, WireRoutes } from './wire-routes.ts'

/** Upper bound of the bytes that WireGuard adds to every packet. */
export const WIREGUARD_BYTES = 80

/** Implementation of WireGuard: the kernel, or the program `wireguard-go`. */
export type WireKind = 'kernel' | 'program'

export interface WireGuardDeps {
  /** Key of the agent. */
  key: string
  hostKey: HostKey
  kind: WireKind
  run: RunProgram
}

/**
 * Encrypts packets from this machine's tunnels to those of other hosts (HOST-161): packets to UDP 4789 of a host with a key are routed into
 * a WireGuard interface, which sends them to the same host. Tunnels and their rules are independent of it.
 */
export class WireGuard {
  readonly device: string
  readonly publicKey: string
  private readonly deps: WireGuardDeps
  private readonly routes: WireRoutes

  constructor(deps: WireGuardDeps) {
    this.deps = deps
    this.device = wireDevice(deps.key)
    this.publicKey = deps.hostKey.publicKey
    this.routes = new WireRoutes(deps.key, deps.run)
  }

  /** Makes exactly these hosts the encrypted peers. `mtu`: of the interface, bytes. */
  async keep(peers: readonly WirePeer[], links: readonly Link[], mtu: number): Promise<void> {
    // First, so that nothing is sent in plain while the interface is created.
    await this.routes.close(peers)
    const found = links.find(({ ifname }) => ifname === this.device)
    if (found === undefined) await makeWire(this.deps.run, this.deps.kind, this.device)
    await this.keepPeers(peers)
    if (found?.mtu !== mtu || !found.flags.includes('UP')) {
      await this.deps.run('ip', ['link', 'set', this.device, 'mtu', String(mtu), 'addrgenmode', 'none', 'up'])
    }
    await this.routes.open(peers)
  }

  private async keepPeers(peers: readonly WirePeer[]): Promise<void> {
    const { run, hostKey } = this.deps
    const shown = readPeers(await run('wg', ['show', this.device, 'dump']))
    if (shown.publicKey !== hostKey.publicKey || shown.port !== WIREGUARD_PORT) await setOwn(run, this.device, hostKey)
    const wanted = new Map(peers.map(({ publicKey, address }) => [publicKey, address]))
    const isKept = (peer: WirePeer) => wanted.get(peer.publicKey) === peer.address
    const gone = shown.peers.filter((peer) => !isKept(peer)).flatMap(({ publicKey }) => ['peer', publicKey, 'remove'])
    const known = new Set(shown.peers.filter(isKept).map(({ publicKey }) => publicKey))
    const added = [...wanted]
      .filter(([publicKey]) => !known.has(publicKey))
      .flatMap(([publicKey, address]) => ['peer', publicKey, 'endpoint', `${address}:${WIREGUARD_PORT}`, 'allowed-ips', `${address}/32`])
    // Two commands, because one may not name a peer twice.
    for (const change of [gone, added]) if (change.length > 0) await run('wg', ['set', this.device, ...change])
  }

  /** Removes the interface, its routes and its rules. */
  async remove(links: readonly Link[]): Promise<void> {
    await removeWire(this.deps.key, this.deps.run, links)
  }
}

/** Creates the WireGuard interface `device`. Rejects when the program fails. */
export async function makeWire(run: RunProgram, kind: WireKind, device: string): Promise<void> {
  if (kind === 'kernel') await run('ip', ['link', 'add', device, 'type', 'wireguard'])
  else await run('wireguard-go', [device])
}

/** Sets the private key and the port of this machine. */
export async function setOwn(run: RunProgram, device: string, { privatePath }: HostKey): Promise<void> {
  await run('wg', ['set', device, 'private-key', privatePath, 'listen-port', String(WIREGUARD_PORT)])
}

/** Removes an agent's WireGuard interface, routes and rules from its machine. */
export async function removeWire(key: string, run: RunProgram, links: readonly Link[]): Promise<void> {
  for (const rule of rulesOf(key)) await run('ip', ['-4', 'rule', 'delete', ...rule]).catch(() => {})
  await run('ip', ['-4', 'route', 'flush', 'table', String(routeTable(key))]).catch(() => {})
  const device = wireDevice(key)
  if (links.some(({ ifname }) => ifname === device)) await run('ip', ['link', 'delete', device])
}
