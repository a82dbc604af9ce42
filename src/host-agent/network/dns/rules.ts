/** The way from containers to the names of their private networks, and how many questions it lets through. Pure text for `nft`. */

/** The name server that containers are told; no machine has it, and their questions are led from there to where the agent listens. */
export const NAME_SERVER = '169.254.53.53'

/** Packets a second and at once, of one container and of all that an account has on this machine. */
const OF_CONTAINER = { rate: 200, burst: 400 }
const OF_ACCOUNT = { rate: 1_000, burst: 2_000 }
const BOTH = 'meta l4proto { tcp, udp }'

interface Place {
  address: string
  port: number
}

/** Sets of a table, which `letNamesIn` needs. */
export function declarePace(): string[] {
  return [
    'set asking { type iface_index . ipv4_addr; size 65535; flags dynamic,timeout; timeout 1m; }',
    'set asking_together { type iface_index; size 65535; flags dynamic,timeout; timeout 1m; }',
  ]
}

/** In front of the engine's own redirections. */
export function leadToNames({ address, port }: Place): string {
  return `ip daddr ${NAME_SERVER} ${BOTH} th dport 53 dnat ip to ${address}:${port}`
}

/** What comes under an address of another network would be answered as that network's container, and count as its question (NET-73). */
export function letNamesIn({ address, port }: Place): string[] {
  const at = `ip daddr ${address} ${BOTH} th dport ${port}`
  return [
    `${at} fib saddr . iif oif missing drop`,
    `${at} update @asking { iif . ip saddr limit rate over ${OF_CONTAINER.rate}/second burst ${OF_CONTAINER.burst} packets } drop`,
    `${at} update @asking_together { iif limit rate over ${OF_ACCOUNT.rate}/second burst ${OF_ACCOUNT.burst} packets } drop`,
    `${at} accept`,
  ]
}
