import { VXLAN_PORT } from '../../../host-protocol/overlays.ts'
import { chain, replaceTable } from '../nft-text.ts'
import { wireDevice } from './encryption/wire-names.ts'
import { memberPrefix, overlaysTable, overlayTable, tunnelPrefix } from './names.ts'

/** A member with an interface on this machine. */
export interface LocalMember {
  device: string
  mac: string
  address: string
}

/** A network as this machine sees it. */
export interface LocalOverlay {
  id: string
  vni: number
  tunnel: string
  members: readonly LocalMember[]
  /** Other hosts of the network that send encrypted, and the interface where their packets come in. */
  encrypted: { device: string; peers: readonly string[] }
  /** Other hosts of the network that send in plain. */
  plain: readonly string[]
}

/** Before the chains of the engine and of firewalls. */
const PRIORITY = -10
/** Position of the VXLAN network identifier (VNI), counted from the UDP header: offset and length in bits. */
const VNI = '@th,96,24'

/**
 * Rules for the frames of one network on this machine, as text for `nft` (HOST-141). Frames are forwarded at the interface where they come
 * in, so the machine never receives or routes them: from a member to another member here or into the tunnel, and out of the tunnel to a
 * member. Frames without the member's own addresses are dropped.
 */
export function buildOverlayRules(key: string, { id, tunnel, members }: LocalOverlay): string {
  const own = members.map(({ device, mac, address }) => `"${device}" . ${mac} . ${address}`)
  const toMembers = members.map(({ device, mac }) => `ether daddr ${mac} fwd to "${device}"`)
  return replaceTable(`netdev ${overlayTable(key, id)}`, [
    ...chain('onward', [...toMembers, `fwd to "${tunnel}"`]),
    ...chain('of_members', [
      `type filter hook ingress devices = { ${members.map(({ device }) => `"${device}"`).join(', ')} } priority 0; policy drop;`,
      `iifname . ether saddr . ip saddr { ${own.join(', ')} } goto onward`,
    ]),
    ...chain('of_others', [`type filter hook ingress device "${tunnel}" priority 0; policy drop;`, ...toMembers]),
  ])
}

/**
 * Rules about which hosts may send into the tunnels of this machine: the hosts of the network with that VNI (HOST-142). Other VNIs are not
 * the agent's.
 */
export function buildMachineRules(key: string, overlays: readonly LocalOverlay[]): string {
  const devices = [memberPrefix(key), tunnelPrefix(key)].map((prefix) => `"${prefix}*"`)
  const wire = `"${wireDevice(key)}"`
  return replaceTable(`inet ${overlaysTable(key)}`, [
    ...chain('input', [
      `type filter hook input priority ${PRIORITY}; policy accept;`,
      ...devices.map((device) => `iifname ${device} drop`),
      // Encryption must not lead around the firewalls between the hosts (HOST-164).
      `iifname ${wire} meta l4proto != udp drop`,
      `iifname ${wire} udp dport != ${VXLAN_PORT} drop`,
      ...overlays.flatMap(tunnelRules),
    ]),
    ...chain('forward', [
      `type filter hook forward priority ${PRIORITY}; policy accept;`,
      ...[...devices, wire].flatMap((device) => [`iifname ${device} drop`, `oifname ${device} drop`]),
    ]),
  ])
}

/** Admits tunnel packets of a network from its hosts only, and from encrypting hosts only through the WireGuard interface (HOST-161). */
function tunnelRules({ vni, encrypted, plain }: LocalOverlay): string[] {
  const number = `udp dport ${VXLAN_PORT} ${VNI} ${vni}`
  const hosts = [...encrypted.peers, ...plain]
  return [
    `${number}${hosts.length > 0 ? ` ip saddr != { ${hosts.join(', ')} }` : ''} drop`,
    ...(encrypted.peers.length > 0 ? [`iifname != "${encrypted.device}" ${number} ip saddr { ${encrypted.peers.join(', ')} } drop`] : []),
  ]
}
