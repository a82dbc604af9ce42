import { VXLAN_PORT } from '../../host-protocol/overlays.ts'
import { boundBegun, boundReceived, type ConnectionBounds, declareBounds } from './connection-bounds.ts'
import { declarePace, leadToNames, letNamesIn } from './dns/rules.ts'
import { ANY_BRIDGE, bridgePrefix, tableName } from './names.ts'
import { NOT_PUBLIC } from './not-public.ts'

/** What containers reach beside the public internet. */
export interface Reach {
  /** Where the relay listens; undefined: not known yet, so that nothing of the host is reached. */
  relay: { address: string; port: number } | undefined
  /** Where the agent answers names of private networks; undefined: it does not. */
  names?: { address: string; port: number } | undefined
  /** Name servers of this machine, IPv4. They are asked from inside the containers. */
  nameServers: readonly string[]
  /** Ranges that the operator has opened. One that is a single address opens the host too, if it is the host's. */
  allowed: readonly string[]
  /** Where ports of containers are published, on an address of this machine; containers reach them as everybody does. */
  published: { address: string; from: number; to: number } | undefined
  /** What one account has of the kernel's table of connections; undefined: the kernel cannot count them. */
  connections: ConnectionBounds | undefined
}

/** Before the chains of the engine and of firewalls: what is refused here is refused, and what is let through is theirs to judge. */
const PRIORITY = -10
/** Before the engine's own redirections. */
const NAT_PRIORITY = -110
/** At once, so that programs which look for a metadata service do not wait for it. */
const REFUSE = 'reject with icmpx type admin-prohibited'

/**
 * The rules of one agent, as text for `nft` (HOST-82). It replaces the table as a whole, in one step. Interfaces go by the beginning of their
 * names, so that a new network is covered before it is there.
 */
export function buildRules(key: string, reach: Reach): string {
  const table = `inet ${tableName(key)}`
  const ours = `"${bridgePrefix(key)}*"`
  return [
    `table ${table} {}`,
    `delete table ${table}`,
    `table ${table} {`,
    ...(reach.connections === undefined ? [] : declareBounds().map((line) => `  ${line}`)),
    ...(reach.names === undefined ? [] : declarePace().map((line) => `  ${line}`)),
    ...hook('input', `type filter hook input priority ${PRIORITY}; policy accept;`, [`iifname ${ours} jump to_host`]),
    ...hook('forward', `type filter hook forward priority ${PRIORITY}; policy accept;`, [
      `iifname ${ours} jump outward`,
      `oifname ${ours} jump inward`,
    ]),
    ...hook('begin', '', reach.connections === undefined ? [] : boundBegun(reach.connections, REFUSE)),
    ...hook('to_host', '', [
      ...REPLIES,
      NEW_BEGUN,
      ...toRelay(reach),
      ...(reach.names === undefined ? [] : letNamesIn(reach.names)),
      ...toNameServers(reach),
      ...toOpenHost(reach),
      ...toPublished(reach),
      REFUSE,
    ]),
    ...hook('outward', '', [
      ...REPLIES,
      NEW_BEGUN,
      // Containers have no IPv6 address of their own.
      `meta nfproto ipv6 ${REFUSE}`,
      // Behind this machine's address it would pass for this machine's own tunnels.
      `udp dport ${VXLAN_PORT} ${REFUSE}`,
      `oifname "${ANY_BRIDGE}*" ${REFUSE}`,
      ...toNameServers(reach),
      ...reach.allowed.map((range) => `ip daddr ${range} accept`),
      `ip daddr { ${NOT_PUBLIC.join(', ')} } ${REFUSE}`,
    ]),
    // Only published ports are for others: a neighbour could have a route to the container itself.
    ...hook('inward', '', ['ct state established,related accept', 'ct status dnat jump receive', 'drop']),
    ...hook('receive', '', [...(reach.connections === undefined ? [] : boundReceived(reach.connections)), 'accept']),
    ...redirected(reach, ours),
    '}',
    '',
  ].join('\n')
}

/** Removes the rules of an agent; fine when there are none. */
export function buildRemoval(key: string): string {
  return `table inet ${tableName(key)} {}\ndelete table inet ${tableName(key)}\n`
}

/** Answers only: what a container began while the rules were away does not go on. */
const REPLIES = ['ct direction reply ct state established,related accept']

/** Counted before anything is let through: what is refused below is never in the kernel's table (NET-60). */
const NEW_BEGUN = 'ct state new jump begin'

function toRelay({ relay }: Reach): string[] {
  return relay === undefined ? [] : [`ip daddr ${relay.address} tcp dport ${relay.port} accept`]
}

function toNameServers({ nameServers }: Reach): string[] {
  return nameServers.length === 0 ? [] : [`ip daddr { ${nameServers.join(', ')} } meta l4proto { tcp, udp } th dport 53 accept`]
}

function toOpenHost({ allowed }: Reach): string[] {
  return allowed.filter((range) => range.endsWith('/32')).map((address) => `ip daddr ${address} accept`)
}

function toPublished({ published: ports }: Reach): string[] {
  return ports === undefined ? [] : [`ip daddr ${ports.address} tcp dport ${ports.from}-${ports.to} accept`]
}

function redirected({ published: ports, names }: Reach, ours: string): string[] {
  const rules = [
    ...(names === undefined ? [] : [`iifname ${ours} ${leadToNames(names)}`]),
    // The engine would lead such a connection from one network straight into another one, which is refused. Led to where it goes anyway, it
    // reaches the engine's listener on the host, as a connection from outside may.
    ...(ports === undefined
      ? []
      : [`iifname ${ours} ip daddr ${ports.address} tcp dport ${ports.from}-${ports.to} dnat ip to ${ports.address}`]),
  ]
  return rules.length === 0 ? [] : hook('published', `type nat hook prerouting priority ${NAT_PRIORITY}; policy accept;`, rules)
}

function hook(name: string, head: string, rules: readonly string[]): string[] {
  return [`  chain ${name} {`, ...(head === '' ? [] : [`    ${head}`]), ...rules.map((rule) => `    ${rule}`), '  }']
}
