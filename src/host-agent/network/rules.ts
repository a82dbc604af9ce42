import { VXLAN_PORT } from '../../host-protocol/overlays.ts'
import { boundBegun, boundReceived, type ConnectionBounds, declareBounds } from './connection-bounds.ts'
import { declarePace, leadToNames, letNamesIn } from './dns/rules.ts'
import { ANY_BRIDGE, bridgePrefix, tableName } from './names.ts'
import { chain, replaceTable } from './nft-text.ts'
import { NOT_PUBLIC } from './not-public.ts'

/** Destinations that containers reach in addition to the public internet. */
export interface Reach {
  /** Where the relay listens; undefined: not known yet, so the host is not reachable through it. */
  relay: { address: string; port: number } | undefined
  /** Where the agent answers names of private networks; undefined: it does not. */
  names?: { address: string; port: number } | undefined
  /** IPv4 name servers of this machine. The engine queries them from inside the containers. */
  nameServers: readonly string[]
  /** Ranges that the operator has allowed. A single address also allows the host itself, if it is the host's. */
  allowed: readonly string[]
  /** Where ports of containers are published, on an address of this machine; containers reach them as any other client does. */
  published: { address: string; from: number; to: number } | undefined
  /** Limits of one account in the kernel's connection table; undefined: the kernel cannot count connections. */
  connections: ConnectionBounds | undefined
}

/** Before the chains of the engine and of firewalls: a refusal here is final, and those chains still judge an accepted packet. */
const PRIORITY = -10
/** Before the engine's own redirections. */
const NAT_PRIORITY = -110
/** An immediate error, so that programs that try a metadata service do not wait for a timeout. */
const REFUSE = 'reject with icmpx type admin-prohibited'

/**
 * The rules of one agent, as text for `nft` (HOST-82). They replace the whole table in one step. Interfaces are matched by name prefix, so
 * that a new network is covered before it exists.
 */
export function buildRules(key: string, reach: Reach): string {
  const ours = `"${bridgePrefix(key)}*"`
  return replaceTable(filterTable(key), [
    ...(reach.connections === undefined ? [] : declareBounds().map((line) => `  ${line}`)),
    ...(reach.names === undefined ? [] : declarePace().map((line) => `  ${line}`)),
    ...chain('input', [`type filter hook input priority ${PRIORITY}; policy accept;`, `iifname ${ours} jump to_host`]),
    ...chain('forward', [
      `type filter hook forward priority ${PRIORITY}; policy accept;`,
      `iifname ${ours} jump outward`,
      `oifname ${ours} jump inward`,
    ]),
    ...chain('begin', reach.connections === undefined ? [] : boundBegun(reach.connections, REFUSE)),
    ...chain('to_host', [
      ...REPLIES,
      NEW_BEGUN,
      ...toRelay(reach),
      ...(reach.names === undefined ? [] : letNamesIn(reach.names)),
      ...toNameServers(reach),
      ...toOpenHost(reach),
      ...toPublished(reach),
      REFUSE,
    ]),
    ...chain('outward', [
      ...REPLIES,
      NEW_BEGUN,
      // Containers have no IPv6 address of their own.
      `meta nfproto ipv6 ${REFUSE}`,
      // From this machine's address it would pass for a packet of the machine's own tunnels.
      `udp dport ${VXLAN_PORT} ${REFUSE}`,
      `oifname "${ANY_BRIDGE}*" ${REFUSE}`,
      ...toNameServers(reach),
      ...reach.allowed.map((range) => `ip daddr ${range} accept`),
      `ip daddr { ${NOT_PUBLIC.join(', ')} } ${REFUSE}`,
    ]),
    // Only published ports are open to others: a neighbour of this machine could have a route to the container itself.
    ...chain('inward', ['ct state established,related accept', 'ct status dnat jump receive', 'drop']),
    ...chain('receive', [...(reach.connections === undefined ? [] : boundReceived(reach.connections)), 'accept']),
    ...redirected(reach, ours),
  ])
}

/** Family and name of the table of an agent's rules. */
export function filterTable(key: string): string {
  return `inet ${tableName(key)}`
}

/** Replies only: a connection that a container began while the rules were missing does not continue. */
const REPLIES = ['ct direction reply ct state established,related accept']

/** Counted before any rule accepts it; a connection that is refused below never enters the kernel's table (NET-60). */
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
    // The engine would redirect such a connection from one network directly into another one, which is refused. Redirected to its own
    // destination, it reaches the engine's listener on the host, as a connection from outside may.
    ...(ports === undefined
      ? []
      : [`iifname ${ours} ip daddr ${ports.address} tcp dport ${ports.from}-${ports.to} dnat ip to ${ports.address}`]),
  ]
  return rules.length === 0 ? [] : chain('published', [`type nat hook prerouting priority ${NAT_PRIORITY}; policy accept;`, ...rules])
}
