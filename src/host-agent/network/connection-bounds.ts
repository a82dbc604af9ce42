/** What each account has of the kernel's table of connections (NET-60). Pure text for `nft`. */

/** A part in so many of the table, begun and received each, for one account. */
const PART = 32
/** What a machine has that does not say: the kernel's own figure for one with 1 GiB. */
const TABLE_DEFAULT = 65_536
/** Each new connection walks the list that it is counted in: lists are short, and the port where it comes from chooses one. */
const LISTS = 16
/** Bits of a source port that vary with whatever chooses it; the lowest do not. */
const LIST_BITS = (LISTS - 1) << 5
/** Connections that were closed are not counted but remembered, here no longer than this. */
const CLOSED_SECONDS = 10
const IDLE = '1m'
const TIMEOUT = 'closed'

export interface ConnectionBounds {
  /** Connections that containers of one account may have open, begun by them, and as many by others. */
  open: number
  /** TCP connections that they may begin a second, lastingly and at once. */
  perSecond: number
  burst: number
}

/** By the size of the kernel's table, `nf_conntrack_max` as its file says it. */
export function boundsOf(tableText: string): ConnectionBounds {
  const size = Number.parseInt(tableText, 10) || TABLE_DEFAULT
  const inList = Math.max(1, Math.floor(size / PART / LISTS))
  const open = inList * LISTS
  return { open, perSecond: Math.max(1, Math.floor(open / LISTS)), burst: Math.max(1, Math.floor(open / 2)) }
}

/** Sets and objects of a table, which chains of it need. */
export function declareBounds(): string[] {
  const counts = `{ type iface_index . inet_service; size 65535; flags dynamic; }`
  return [
    `ct timeout ${TIMEOUT} { protocol tcp; l3proto ip; policy = { time_wait: ${CLOSED_SECONDS} }; }`,
    `set begun ${counts}`,
    `set received ${counts}`,
    `set paced { type iface_index; size 65535; flags dynamic,timeout; timeout ${IDLE}; }`,
  ]
}

/** For new connections of containers. */
export function boundBegun({ open, perSecond, burst }: ConnectionBounds, refuse: string): string[] {
  return [
    `meta l4proto tcp update @paced { iif limit rate over ${perSecond}/second burst ${burst} packets } ${refuse}`,
    `add @begun { iif . th sport & ${LIST_BITS} ct count over ${open / LISTS} } ${refuse}`,
    `meta l4proto tcp ct timeout set "${TIMEOUT}"`,
  ]
}

/** For new connections to containers. */
export function boundReceived({ open }: ConnectionBounds): string[] {
  return [
    `add @received { oif . th sport & ${LIST_BITS} ct count over ${open / LISTS} } drop`,
    `meta l4proto tcp ct timeout set "${TIMEOUT}"`,
  ]
}
