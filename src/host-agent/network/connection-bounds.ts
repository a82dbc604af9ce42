/** Limits of each account in the kernel's connection table (NET-60). Pure text for `nft`. */

/** Divisor of the table: one account gets this part for connections that it begins, and as much for those that it receives. */
const PART = 32
/** Size of the table where the machine does not state it: the kernel's own value for 1 GiB of memory. */
const TABLE_DEFAULT = 65_536
/**
 * Number of lists per account. The kernel walks a list for each new connection, so lists must be short; the source port selects the list.
 */
const LISTS = 16
/** Bits of the source port that vary with every port allocator; the lowest bits may not. */
const LIST_BITS = (LISTS - 1) << 5
/** Closed connections stay in the table without being counted; this limits the time. */
const CLOSED_SECONDS = 10
const IDLE = '1m'
const TIMEOUT = 'closed'

/** Limits of the connections of an account's containers. */
export interface ConnectionBounds {
  /** Connections that containers of one account may have open: this many that they began, and as many that others began. */
  open: number
  /** TCP connections that they may begin: per second in the long run, and at once. */
  perSecond: number
  burst: number
}

/** Limits for a table of the size in `nf_conntrack_max`, as its file states it. */
export function boundsOf(tableText: string): ConnectionBounds {
  const size = Number.parseInt(tableText, 10) || TABLE_DEFAULT
  const inList = Math.max(1, Math.floor(size / PART / LISTS))
  const open = inList * LISTS
  return { open, perSecond: Math.max(1, Math.floor(open / LISTS)), burst: Math.max(1, Math.floor(open / 2)) }
}

/** Sets and objects of a table that the rules below need. */
export function declareBounds(): string[] {
  const counts = `{ type iface_index . inet_service; size 65535; flags dynamic; }`
  return [
    `ct timeout ${TIMEOUT} { protocol tcp; l3proto ip; policy = { time_wait: ${CLOSED_SECONDS} }; }`,
    `set begun ${counts}`,
    `set received ${counts}`,
    `set paced { type iface_index; size 65535; flags dynamic,timeout; timeout ${IDLE}; }`,
  ]
}

/** Rules for new connections from containers. */
export function boundBegun({ open, perSecond, burst }: ConnectionBounds, refuse: string): string[] {
  return [
    `meta l4proto tcp update @paced { iif limit rate over ${perSecond}/second burst ${burst} packets } ${refuse}`,
    `add @begun { iif . th sport & ${LIST_BITS} ct count over ${open / LISTS} } ${refuse}`,
    `meta l4proto tcp ct timeout set "${TIMEOUT}"`,
  ]
}

/** Rules for new connections to containers. */
export function boundReceived({ open }: ConnectionBounds): string[] {
  return [
    `add @received { oif . th sport & ${LIST_BITS} ct count over ${open / LISTS} } drop`,
    `meta l4proto tcp ct timeout set "${TIMEOUT}"`,
  ]
}
