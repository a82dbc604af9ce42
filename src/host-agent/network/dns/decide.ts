import { BlockList } from 'node:net'
import { NOT_PUBLIC } from '../not-public.ts'
import type { Zone } from './zone.ts'

/** Seconds for which a client may cache an answer; short, because members come and go. */
export const TTL_SECONDS = 5

/** A question of a DNS query. */
export interface Question {
  name: string
  /** As `dns-packet` names it: A, AAAA, PTR and others. */
  type: string
  class: string
}

/** The answer to a question. */
export interface Decision {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'REFUSED'
  records: readonly { type: 'A' | 'PTR'; data: string }[]
  /** Domain of the zone that the name belongs to: no other names exist below it. Null: none. */
  domain: string | null
}

const REFUSED: Decision = { rcode: 'REFUSED', records: [], domain: null }
const REVERSE = '.in-addr.arpa'
/** Unique local, link-local and loopback addresses of IPv6. */
const PRIVATE_REVERSE_V6 = /(?:(?:^|\.)[cd]\.f|(?:^|\.)[89ab]\.e\.f|^1(?:\.0){31})\.ip6\.arpa$/
const PRIVATE = new BlockList()
for (const range of NOT_PUBLIC) {
  const [address = '', prefix] = range.split('/')
  PRIVATE.addSubnet(address, Number(prefix), 'ipv4')
}

/**
 * The answer to a question of a container in the networks of `zones` (NET-70). A name below their domain that none of them has does not
 * exist, whether or not other networks have it (NET-71). Addresses that are not public have only the names in the zones. All other
 * questions are refused: the engine then queries the machine's name servers, from inside the container (NET-72). Pure.
 */
export function decide({ name, type, class: class_ }: Question, zones: readonly Zone[]): Decision {
  const asked = name.toLowerCase()
  if (class_ !== 'IN' || zones.length === 0) return REFUSED
  const address = reversed(asked)
  if (address !== undefined) return decidePointer(address, type, zones)
  if (PRIVATE_REVERSE_V6.test(asked)) return { rcode: 'NXDOMAIN', records: [], domain: null }
  const found = zones.flatMap(({ addresses }) => addresses.get(asked) ?? [])
  const domain = zones.find((zone) => asked === zone.domain || asked.endsWith(`.${zone.domain}`))?.domain ?? null
  if (found.length === 0 && domain === null) return REFUSED
  // The domain itself exists, and has no address.
  if (found.length === 0 && asked !== domain) return { rcode: 'NXDOMAIN', records: [], domain }
  const isAsked = type === 'A' || type === 'ANY'
  return { rcode: 'NOERROR', records: isAsked ? found.map((data) => ({ type: 'A', data })) : [], domain }
}

function decidePointer(address: string, type: string, zones: readonly Zone[]): Decision {
  const data = zones.flatMap(({ pointers }) => pointers.get(address) ?? [])[0]
  if (data !== undefined) {
    return { rcode: 'NOERROR', records: type === 'PTR' || type === 'ANY' ? [{ type: 'PTR', data }] : [], domain: null }
  }
  return PRIVATE.check(address) ? { rcode: 'NXDOMAIN', records: [], domain: null } : REFUSED
}

/** The address of a name in the reverse tree; the first address of the range for the name of a range. */
function reversed(name: string): string | undefined {
  if (!name.endsWith(REVERSE)) return undefined
  const bytes = name.slice(0, -REVERSE.length).split('.').toReversed()
  if (bytes.length > 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256)) return undefined
  return [...bytes, '0', '0', '0'].slice(0, 4).map(Number).join('.')
}
