import { createHash } from 'node:crypto'

/** Names of the objects for the encryption between hosts. Pure. */

const TABLE_BASE = 478_900_000

/** The WireGuard interface of an agent. */
export function wireDevice(key: string): string {
  return `pw-${key}`
}

/** The interface of a trial. */
export function probeDevice(key: string): string {
  return `${wireDevice(key)}try`
}

/** Number of the routing table that leads to the interface. */
export function routeTable(key: string): number {
  return TABLE_BASE + createHash('sha256').update(key).digest().readUInt16BE(0)
}
