/** Rules that redirect containers' questions to the agent's name server, with rate limits. Pure text for `nft`. */

/**
 * Name server address in the settings of containers. No machine has it: the packet filter redirects it to the address where the agent
 * listens.
 */
export const NAME_SERVER = '169.254.53.53'

/**
 * Packets per second, and at once: for one container, and for all containers of an account on this machine. All packets that may
 * come at once fit in the agent's queue, which all accounts share.
 */
const OF_CONTAINER = { rate: 200, burst: 200 }
const OF_ACCOUNT = { rate: 1_000, burst: 500 }
/**
 * Longest UDP datagram of a question, bytes with its header: the longest name with all usual options is shorter. The limits count packets
 * and the queue counts memory, which a longer datagram takes more of, also one that came in fragments.
 */
const DATAGRAM_MAX_BYTES = 340
const BOTH = 'meta l4proto { tcp, udp }'

interface Place {
  address: string
  port: number
}

/** Sets of a table that `letNamesIn` needs. */
export function declarePace(): string[] {
  return [
    'set asking { type iface_index . ipv4_addr; size 65535; flags dynamic,timeout; timeout 1m; }',
    'set asking_together { type iface_index; size 65535; flags dynamic,timeout; timeout 1m; }',
  ]
}

/** Rule that must precede the engine's own redirections. */
export function leadToNames({ address, port }: Place): string {
  return `ip daddr ${NAME_SERVER} ${BOTH} th dport 53 dnat ip to ${address}:${port}`
}

/**
 * Admits questions within the limits. A packet with a source address of another network is dropped: it would be answered as that network's
 * container, and count against its limit (NET-73).
 */
export function letNamesIn({ address, port }: Place): string[] {
  const at = `ip daddr ${address} ${BOTH} th dport ${port}`
  return [
    `${at} fib saddr . iif oif missing drop`,
    `ip daddr ${address} udp dport ${port} udp length > ${DATAGRAM_MAX_BYTES} drop`,
    `${at} update @asking { iif . ip saddr limit rate over ${OF_CONTAINER.rate}/second burst ${OF_CONTAINER.burst} packets } drop`,
    `${at} update @asking_together { iif limit rate over ${OF_ACCOUNT.rate}/second burst ${OF_ACCOUNT.burst} packets } drop`,
    `${at} accept`,
  ]
}
