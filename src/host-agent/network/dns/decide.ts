import { BlockList } from 'node:net'
import { NOT_PUBLIC } from '../not-public.ts'
import type { Zone } from './zone.ts'

/** Seconds that an answer may be kept; members come and go. */
export const TTL_SECONDS = 5

export interface Question {
  name: string
  /** As `dns-packet` names it: A, AAAA, PTR. */
  type: string
  class: string
}

/** How a question is answered. */
export interface Decision {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'REFUSED'
  records: readonly { type: 'A' | 'PTR'; data: string }[]
  /** Whose names these are: there are no others below it. Null: nobody's here. */
  domain: string | null
}

const REFUSED: Decision = { rcode: 'REFUSED', records: [], domain: null }
const REVERSE = '.in-addr.arpa'
/** Unique local and link-local addresses of IPv6, and its loopback. */
const PRIVATE_REVERSE_V6 = /(?:(?:^|\.)[cd]\.f|(?:^|\.)[89ab]\.e\.f|^1(?:\.0){31})\.ip6\.arpa$/
const PRIVATE = new BlockList()
for (const range of NOT_PUBLIC) {
  const [address = '', prefix] = range.split('/')
  PRIVATE.addSubnet(address, Number(prefix), 'ipv4')
}

/**
 * The answer to a question of a container that is in the networks of `zones` (NET-70). A name below their domain that is none of theirs does not
 * exist, whether or not others have it (NET-71). Addresses that are not public have no names but those of the zones. Everything else is refused:
 * the engine then asks the name servers of the machine, from inside the container (NET-72). Pure.
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
  // The domain itself is there, and has no address.
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

/** The address that a name of the reverse tree stands for; the first one of its range where it is the name of a range. */
function reversed(name: string): string | undefined {
  if (!name.endsWith(REVERSE)) return undefined
  const bytes = name.slice(0, -REVERSE.length).split('.').toReversed()
  if (bytes.length > 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256)) return undefined
  return [...bytes, '0', '0', '0'].slice(0, 4).map(Number).join('.')
}
