import { networkInterfaces } from 'node:os'
import type { OverlayInventory } from '../../../host-protocol/overlays.ts'
import { VXLAN_PORT } from '../../../host-protocol/overlays.ts'
import { errorText } from '../../../node/fail.ts'
import type { Nft } from '../nft.ts'
import { removeTable } from '../nft-text.ts'
import type { EncryptionMode, findEncryption } from './encryption/find-encryption.ts'
import { WIREGUARD_BYTES, type WireGuard } from './encryption/wireguard.ts'
import type { IpTools } from './ip-tools.ts'
import { overlayTable, tunnelPrefix } from './names.ts'
import { buildOverlayRules } from './overlay-rules.ts'

/** The interface and address over which the tunnels of this machine lead. */
export interface Underlay {
  device: string
  address: string
  encryption: OverlayInventory['encryption']
  /** Reason why traffic between hosts is not encrypted. */
  encryptionReason?: string
  /** The agent's own encryption; null: a layer below encrypts, or nothing does. */
  wire: WireGuard | null
  /** Whether this host sends nothing to other hosts in plain. */
  isPlainRefused: boolean
  /** Largest packet of members, bytes. */
  mtu: number
}

/** Bytes that a tunnel adds to every packet: Ethernet, IPv4, UDP and VXLAN. */
export const TUNNEL_BYTES = 50
const ANYWHERE = '192.0.2.1'
const REASON_MAX_CHARS = 300
const VNI_MAX = 2 ** 24 - 1
const PROBE_VNIS = 1_000
const PROBE = '.try'

export interface UnderlayDeps {
  key: string
  /** Set by the operator; undefined: the address of the interface with the default route. */
  address: string | undefined
  tools: IpTools
  nft: Nft
  encryption: EncryptionMode
  /** `findEncryption` with the agent's key, state directory and tools. */
  openEncryption(mode: EncryptionMode): ReturnType<typeof findEncryption>
}

/**
 * Finds the address where other hosts reach this one, and tests whether the machine can build tunnels there (HOST-140). Returns the reason
 * where it cannot.
 */
export async function findUnderlay(deps: UnderlayDeps): Promise<Underlay | { reason: string }> {
  try {
    const { device, source } = await findAddress(deps)
    const link = (await deps.tools.links()).find(({ ifname }) => ifname === device)
    await tryOut(deps, source)
    if (link?.mtu === undefined) throw new Error(`the interface ${device} leads nowhere`)
    const isEncryptedBelow = link.linkinfo?.info_kind === 'wireguard'
    const found = await deps.openEncryption(isEncryptedBelow ? 'off' : deps.encryption)
    const isRequired = deps.encryption === 'require'
    if (isEncryptedBelow)
      return { device, address: source, encryption: 'wireguard', wire: null, isPlainRefused: false, mtu: link.mtu - TUNNEL_BYTES }
    const mtu = innerMtu(link.mtu, !('reason' in found))
    if (!('reason' in found)) return { device, address: source, encryption: 'wireguard', wire: found, isPlainRefused: isRequired, mtu }
    const encryptionReason = found.reason.slice(0, REASON_MAX_CHARS)
    if (isRequired)
      return { reason: `encryption, which --overlay-encryption requires, is not available: ${found.reason}`.slice(0, REASON_MAX_CHARS) }
    return { device, address: source, encryption: 'none', encryptionReason, wire: null, isPlainRefused: false, mtu }
  } catch (error) {
    return { reason: errorText(error).slice(0, REASON_MAX_CHARS) }
  }
}

/** Largest packet of members, bytes, over an interface with packets of `mtu` bytes. Pure. */
export function innerMtu(mtu: number, isEncrypted: boolean): number {
  return mtu - TUNNEL_BYTES - (isEncrypted ? WIREGUARD_BYTES : 0)
}

async function findAddress({ address, tools }: UnderlayDeps): Promise<{ device: string; source: string }> {
  if (address !== undefined) {
    const device = Object.entries(networkInterfaces()).find(([, all]) => all?.some((one) => one.address === address))?.[0]
    if (device === undefined) throw new Error(`--overlay-address ${address} is no address of this machine`)
    return { device, source: address }
  }
  const found = await tools.routeTo(ANYWHERE).catch(() => undefined)
  if (found === undefined) throw new Error('this machine has no default route; --overlay-address says where other hosts reach it')
  return found
}

/** Builds a tunnel with its rules, and removes it. Throws where the machine cannot build it. */
async function tryOut({ key, tools, nft }: UnderlayDeps, address: string): Promise<void> {
  const tunnel = `${tunnelPrefix(key)}try`
  const vni = VNI_MAX - Math.floor(Math.random() * PROBE_VNIS)
  const member = { device: tunnel, mac: '0a:58:c0:00:02:01', address: ANYWHERE }
  await tools.apply([`link add ${tunnel} type vxlan id ${vni} dstport ${VXLAN_PORT} local ${address} nolearning`])
  try {
    await nft.apply(
      buildOverlayRules(key, { id: PROBE, vni, tunnel, members: [member], encrypted: { device: '', peers: [] }, plain: [] }) +
        removeTable(`netdev ${overlayTable(key, PROBE)}`),
    )
  } finally {
    await tools.apply([`link delete ${tunnel}`])
  }
}
