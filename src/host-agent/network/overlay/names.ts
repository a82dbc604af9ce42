import { isIPv4 } from 'node:net'
import { namePart, tableName } from '../names.ts'

/** Names of the objects for private networks across hosts. None has the prefix of accounts' networks. Pure. */

const TUNNEL_PREFIX = 'px-'
const MEMBER_PREFIX = 'pv-'
/** A locally administered hardware address. */
const MAC_PREFIX = '0a:58'

/** Name prefix of the machine's ends of members' interfaces. */
export function memberPrefix(key: string): string {
  return `${MEMBER_PREFIX}${key}`
}

/** Name prefix of the tunnels. */
export function tunnelPrefix(key: string): string {
  return `${TUNNEL_PREFIX}${key}`
}

/** The interface that leads to the other hosts of a network. */
export function tunnelName(key: string, overlayId: string): string {
  return `${tunnelPrefix(key)}${namePart(key, overlayId)}`
}

/** The machine's end of a workload's interface in a network. */
export function memberName(key: string, workloadId: string, overlayId: string): string {
  return `${memberPrefix(key)}${namePart(key, `${workloadId}\n${overlayId}`)}`
}

/** The table of the rules for one network's interfaces. */
export function overlayTable(key: string, overlayId: string): string {
  return `${tableName(key)}-${namePart(key, overlayId)}`
}

/** The table of the network that a tunnel belongs to; undefined: the interface is not a tunnel of this agent. */
export function tableOfTunnel(key: string, device: string): string | undefined {
  return device.startsWith(tunnelPrefix(key)) ? `${tableName(key)}-${device.slice(tunnelPrefix(key).length)}` : undefined
}

/** The table of the machine's rules for all private networks. */
export function overlaysTable(key: string): string {
  return `${tableName(key)}-overlays`
}

/**
 * Hardware address derived from an IPv4 address: every host knows those of all members without a query. Throws for a text that is no IPv4
 * address.
 */
export function macOf(address: string): string {
  if (!isIPv4(address)) throw new Error(`'${address}' is no IPv4 address`)
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
  return [MAC_PREFIX, ...bytes].join(':')
}
