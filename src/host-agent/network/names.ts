import { createHash } from 'node:crypto'

/** Names of one agent's objects, distinct for several agents of one machine. Pure. */

/** Prefix of the interface of every podplane network on a machine, of any agent. */
export const ANY_BRIDGE = 'pp-'

const KEY_CHARS = 5
/** Interface names have at most 15 characters. */
const PART_CHARS = 7

/** The key of an agent, derived from a value that only this agent has. */
export function agentKey(secret: string): string {
  return digest(secret).slice(0, KEY_CHARS)
}

/** Prefix of the interfaces of an agent's networks. */
export function bridgePrefix(key: string): string {
  return `${ANY_BRIDGE}${key}`
}

/** The interface of an account's network. */
export function bridgeName(key: string, account: string): string {
  return `${bridgePrefix(key)}${namePart(key, account)}`
}

/** Name of an account's network in the container engine. */
export function networkName(key: string, account: string): string {
  return `podplane-${key}-${namePart(key, account)}`
}

/** Table of an agent's packet filter rules. */
export function tableName(key: string): string {
  return `podplane-${key}`
}

/** Short hash of a text, as part of the names of an agent. */
export function namePart(key: string, text: string): string {
  return digest(`${key}\n${text}`).slice(0, PART_CHARS)
}

/** Lower-case letters and digits only, because the result is part of interface names. */
function digest(text: string): string {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
    .toString(36)
    .padStart(50, '0')
    .slice(-12)
}
