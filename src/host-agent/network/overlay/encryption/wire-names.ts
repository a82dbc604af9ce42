import { createHash } from 'node:crypto'

/** What belongs to the encryption between hosts, by its name. Pure. */

const TABLE_BASE = 478_900_000

/** The interface through which tunnels of an agent send. */
export function wireDevice(key: string): string {
  return `pw-${key}`
}

/** The one that is built to find out whether it can be. */
export function trialDevice(key: string): string {
  return `${wireDevice(key)}try`
}

/** The number of the table of routes that leads there. */
export function routeTable(key: string): number {
  return TABLE_BASE + createHash('sha256').update(key).digest().readUInt16BE(0)
}
