import { createHash } from 'node:crypto'

/** What everything of one agent's is called, so that several agents of one machine do not meet. Pure. */

/** Label of networks: the agent's key. */
export const NETWORK_LABEL = 'podplane.network'
export const ACCOUNT_LABEL = 'podplane.account'
/** How the interface of every podplane network of a machine begins, whichever agent it belongs to. */
export const ANY_BRIDGE = 'pp-'

const KEY_CHARS = 5
/** An interface has a name of 15 characters at most. */
const PART_CHARS = 7

/** The key of an agent, from what only it has. */
export function agentKey(secret: string): string {
  return digest(secret).slice(0, KEY_CHARS)
}

/** How the interfaces of an agent's networks begin. */
export function bridgePrefix(key: string): string {
  return `${ANY_BRIDGE}${key}`
}

/** The interface of an account's network. */
export function bridgeName(key: string, account: string): string {
  return `${bridgePrefix(key)}${accountPart(key, account)}`
}

/** What an account's network is called by the container engine. */
export function networkName(key: string, account: string): string {
  return `podplane-${key}-${accountPart(key, account)}`
}

/** The table of an agent's rules. */
export function tableName(key: string): string {
  return `podplane-${key}`
}

function accountPart(key: string, account: string): string {
  return namePart(key, account)
}

/** What stands for a text in a name that an agent gives. */
export function namePart(key: string, text: string): string {
  return digest(`${key}\n${text}`).slice(0, PART_CHARS)
}

/** Letters and digits only, and lower-case ones, as names of interfaces want them. */
function digest(text: string): string {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
    .toString(36)
    .padStart(50, '0')
    .slice(-12)
}
