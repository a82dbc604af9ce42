/** IPv4 ranges as text, `10.0.0.0/8`. Pure. */

/** A range of IPv4 addresses. */
export interface Subnet {
  /** First address, as a 32-bit number. */
  first: number
  prefix: number
}

const CIDR = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/
/** Ranges from which networks of accounts are taken, in this order; a range that this machine routes elsewhere is skipped. */
const POOLS = ['10.192.0.0/11', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15', '100.64.0.0/10'].map(needSubnet)
/** Leaves 253 addresses for containers of one account. */
const NETWORK_PREFIX = 24

/** Parses a range or a single address; undefined when the text is neither, or when the address is not the first of its range. */
export function parseSubnet(text: string): Subnet | undefined {
  const [, ...digits] = CIDR.exec(text) ?? []
  const [prefixText, ...bytes] = [digits[4] ?? '32', ...digits.slice(0, 4)]
  const prefix = Number(prefixText)
  const numbers = bytes.map(Number)
  if (digits.length === 0 || prefix > 32 || numbers.some((number) => number > 255)) return undefined
  const first = numbers.reduce((sum, number) => sum * 256 + number, 0)
  return first % sizeOf(prefix) === 0 ? { first, prefix } : undefined
}

/** A subnet in CIDR notation. */
export function formatSubnet({ first, prefix }: Subnet): string {
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256)
  return `${bytes.join('.')}/${prefix}`
}

/** Whether two subnets share an address. */
export function overlaps(a: Subnet, b: Subnet): boolean {
  return a.first < b.first + sizeOf(b.prefix) && b.first < a.first + sizeOf(a.prefix)
}

/**
 * Free networks for an account, best first, at most `limit`. `offset` (0 to 1) is where the search begins in a pool, so that agents of one
 * machine choose different ranges.
 */
export function freeSubnets(taken: readonly Subnet[], offset: number, limit: number): Subnet[] {
  const free: Subnet[] = []
  for (const pool of POOLS) {
    // A pool that is routed elsewhere as a whole, by a route to 10.0.0.0/8 for example, may be in use anywhere.
    if (taken.some((range) => range.prefix <= pool.prefix && overlaps(range, pool))) continue
    const count = 2 ** (NETWORK_PREFIX - pool.prefix)
    const start = Math.min(count - 1, Math.floor(offset * count))
    for (let step = 0; step < count && free.length < limit; step += 1) {
      const subnet = { first: pool.first + ((start + step) % count) * sizeOf(NETWORK_PREFIX), prefix: NETWORK_PREFIX }
      if (!taken.some((range) => overlaps(range, subnet))) free.push(subnet)
    }
  }
  return free
}

/** Destinations in the kernel's table of IPv4 routes (`/proc/net/route`), without the default route. */
export function parseRoutes(table: string): Subnet[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, destination = '', , , , , , mask = ''] = line.split(/\s+/)
      const prefix = bitsOf(mask)
      return destination === '' || prefix === 0 ? [] : [{ first: fromLittleEndian(destination), prefix }]
    })
}

function needSubnet(text: string): Subnet {
  const subnet = parseSubnet(text)
  if (subnet === undefined) throw new Error(`'${text}' is no range of addresses`)
  return subnet
}

function sizeOf(prefix: number): number {
  return 2 ** (32 - prefix)
}

function bitsOf(mask: string): number {
  return [...fromLittleEndian(mask).toString(2)].filter((digit) => digit === '1').length
}

function fromLittleEndian(hex: string): number {
  const bytes = hex.match(/../g) ?? []
  return bytes.reduceRight((sum, byte) => sum * 256 + Number.parseInt(byte, 16), 0)
}
