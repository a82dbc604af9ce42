import { type Overlay, type OverlayPlace, VXLAN_PORT } from '../../../host-protocol/overlays.ts'
import { WIREGUARD_BYTES } from './encryption/wireguard.ts'
import type { IpTools, Link } from './ip-tools.ts'
import { macOf, memberName, tunnelName } from './names.ts'
import type { NetworkNamespace } from './network-namespace.ts'
import type { LocalOverlay } from './overlay-rules.ts'
import { type OwnEnd, peersOf } from './peers.ts'
import { innerMtu, type Underlay } from './underlay.ts'

/** A workload of this machine in a network, with the network namespace of its container held open. */
export interface Attached {
  workloadId: string
  place: OverlayPlace
  inside: NetworkNamespace
}

/** A network with workloads of this machine. */
export interface WantedOverlay {
  overlay: Overlay
  attached: readonly Attached[]
}

/** Parameters of a network on this machine for its rules. Pure. */
export function localOverlay(key: string, own: OwnEnd, { overlay, attached }: WantedOverlay): LocalOverlay {
  const { encrypted, plain } = peersOf(overlay, own)
  return {
    id: overlay.id,
    vni: overlay.vni,
    tunnel: tunnelName(key, overlay.id),
    members: attached.map(({ workloadId, place }) => {
      return { device: memberName(key, workloadId, overlay.id), mac: macOf(place.address), address: place.address }
    }),
    encrypted: { device: own.wire?.device ?? '', peers: encrypted.map(({ address }) => address) },
    plain,
  }
}

/** Creates and corrects the interfaces of networks; leaves correct ones unchanged. */
export class OverlayDevices {
  private readonly key: string
  private readonly underlay: Underlay
  private readonly tools: IpTools

  constructor(key: string, underlay: Underlay, tools: IpTools) {
    this.key = key
    this.underlay = underlay
    this.tools = tools
  }

  /** Creates the interfaces; new ones are not in use yet. */
  async make({ overlay, attached }: WantedOverlay, links: readonly Link[]): Promise<void> {
    const mtu = this.mtuOf(overlay, links)
    await this.makeTunnel(overlay, links, mtu)
    for (const one of attached) await this.makeMember(overlay, one, links, mtu)
  }

  /** Sets the neighbour and forwarding entries of the interfaces, then brings the interfaces up. */
  async connect({ overlay, attached }: WantedOverlay): Promise<void> {
    await this.keepForwarding(overlay)
    for (const { place, inside } of attached) await this.keepNeighbours(overlay, place, inside.path)
    const devices = [tunnelName(this.key, overlay.id), ...attached.map(({ workloadId }) => memberName(this.key, workloadId, overlay.id))]
    await this.tools.apply(devices.map((device) => `link set ${device} up`))
  }

  /** Largest packet that every host of the network supports, bytes (HOST-162). */
  private mtuOf(overlay: Overlay, links: readonly Link[]): number {
    const mtu = innerMtu(this.outerMtu(links), this.underlay.wire !== null)
    return Math.min(mtu, overlay.mtu ?? mtu)
  }

  private outerMtu(links: readonly Link[]): number {
    const mtu = links.find(({ ifname }) => ifname === this.underlay.device)?.mtu
    if (mtu === undefined) throw new Error(`the interface ${this.underlay.device}, which leads to other hosts, disappeared`)
    return mtu
  }

  /** Maintains the encryption between this machine and the other hosts of all networks. */
  async keepEncryption(wanted: readonly WantedOverlay[], links: readonly Link[]): Promise<void> {
    const { wire } = this.underlay
    if (wire === null) return
    const peers = new Map(wanted.flatMap(({ overlay }) => peersOf(overlay, this.underlay).encrypted).map((peer) => [peer.address, peer]))
    if (wanted.length > 0) await wire.keep([...peers.values()], links, this.outerMtu(links) - WIREGUARD_BYTES)
    else await wire.remove(links)
  }

  private async makeTunnel({ id, vni }: Overlay, links: readonly Link[], mtu: number): Promise<void> {
    const name = tunnelName(this.key, id)
    const { address } = this.underlay
    const found = links.find(({ ifname }) => ifname === name)
    const data = found?.linkinfo?.info_data
    if (found !== undefined && data?.id === vni && data.local === address && found.mtu === mtu) return
    await this.tools.apply([
      ...(found === undefined ? [] : [`link delete ${name}`]),
      `link add ${name} type vxlan id ${vni} dstport ${VXLAN_PORT} local ${address} nolearning`,
      `link set ${name} mtu ${mtu} addrgenmode none`,
    ])
  }

  private async makeMember({ id, cidr }: Overlay, one: Attached, links: readonly Link[], mtu: number): Promise<void> {
    const { workloadId, place, inside } = one
    const outer = memberName(this.key, workloadId, id)
    const within = (await this.tools.links(inside.path)).find(({ ifname }) => ifname === place.interface)
    const wanted = `${place.address}/${cidr.split('/')[1]}`
    const isThere = within?.address === macOf(place.address) && within.mtu === mtu && links.some(({ ifname }) => ifname === outer)
    if (isThere && within.flags.includes('UP') && (await this.tools.addresses(place.interface, inside.path)).includes(wanted)) return
    // The other end of the pair is removed with it.
    if (within !== undefined) await this.tools.apply([`link delete ${place.interface}`], inside.path)
    await this.tools.apply(
      [
        `link add ${place.interface} address ${macOf(place.address)} mtu ${mtu} type veth peer name ${outer} netns ${process.pid}`,
        `link set ${place.interface} addrgenmode none`,
        `address add ${wanted} dev ${place.interface}`,
        `link set ${place.interface} up`,
      ],
      inside.path,
    )
    await this.tools.apply([`link set ${outer} mtu ${mtu} addrgenmode none`])
  }

  private async keepForwarding(overlay: Overlay): Promise<void> {
    const { id, members } = overlay
    const device = tunnelName(this.key, id)
    const refused = new Set<string | null>([null, this.underlay.address, ...peersOf(overlay, this.underlay).refused])
    const elsewhere = members.filter(({ hostAddress }) => !refused.has(hostAddress))
    const wanted = new Map(elsewhere.map(({ address, hostAddress }) => [macOf(address), hostAddress]))
    const found = await this.tools.forwarding(device)
    const isKept = ({ mac, host }: { mac: string; host: string }) => wanted.get(mac) === host
    const known = new Set(found.filter(isKept).map(({ mac }) => mac))
    await this.tools.applyForwarding([
      ...found.filter((entry) => !isKept(entry)).map(({ mac, host }) => `fdb delete ${mac} dev ${device} dst ${host} self`),
      ...[...wanted].filter(([mac]) => !known.has(mac)).map(([mac, host]) => `fdb replace ${mac} dev ${device} dst ${host} self permanent`),
    ])
  }

  /** Sets the hardware addresses of all members as permanent neighbours, so that no member needs a broadcast to find one. */
  private async keepNeighbours({ members }: Overlay, { address: own, interface: device }: OverlayPlace, inside: string): Promise<void> {
    const others = members.filter(({ address }) => address !== own)
    const wanted = new Map(others.map(({ address }) => [address, macOf(address)]))
    const found = await this.tools.neighbours(device, inside)
    const known = new Set(found.filter(({ address, mac }) => wanted.get(address) === mac).map(({ address }) => address))
    await this.tools.apply(
      [
        ...found.filter(({ address }) => !wanted.has(address)).map(({ address }) => `neighbour delete ${address} dev ${device}`),
        ...[...wanted]
          .filter(([address]) => !known.has(address))
          .map(([address, mac]) => `neighbour replace ${address} lladdr ${mac} dev ${device} nud permanent`),
      ],
      inside,
    )
  }
}
