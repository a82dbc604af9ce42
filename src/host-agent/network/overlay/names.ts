import { isIPv4 } from 'node:net'
import { namePart, tableName } from '../names.ts'

/** What belongs to private networks across hosts, by its name. None of these names begins as those of accounts' networks do. Pure. */

const TUNNEL_PREFIX = 'px-'
const MEMBER_PREFIX = 'pv-'
/** Set locally, for one machine. */
const MAC_PREFIX = '0a:58'

/** How the machine's ends of the members' interfaces begin. */
export function memberPrefix(key: string): string {
  return `${MEMBER_PREFIX}${key}`
}

/** How the tunnels begin. */
export function tunnelPrefix(key: string): string {
  return `${TUNNEL_PREFIX}${key}`
}

/** The interface that leads to the other hosts of a network. */
export function tunnelName(key: string, overlayId: string): string {
  return `${tunnelPrefix(key)}${namePart(key, overlayId)}`
}

/** The machine's end of the interface that a workload has in a network. */
export function memberName(key: string, workloadId: string, overlayId: string): string {
  return `${memberPrefix(key)}${namePart(key, `${workloadId}\n${overlayId}`)}`
}

/** The table of the rules for one network's interfaces. */
export function overlayTable(key: string, overlayId: string): string {
  return `${tableName(key)}-${namePart(key, overlayId)}`
}

/** That of the network that a tunnel belongs to; undefined: the interface is no tunnel of this agent. */
export function tableOfTunnel(key: string, device: string): string | undefined {
  return device.startsWith(tunnelPrefix(key)) ? `${tableName(key)}-${device.slice(tunnelPrefix(key).length)}` : undefined
}

/** The table of the rules that the machine has for all of them. */
export function overlaysTable(key: string): string {
  return `${tableName(key)}-overlays`
}

/** The hardware address of whoever has an address: every host knows that of every member without asking. */
export function macOf(address: string): string {
  if (!isIPv4(address)) throw new Error(`'${address}' is no IPv4 address`)
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
  return [MAC_PREFIX, ...bytes].join(':')
}
