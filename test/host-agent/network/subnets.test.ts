import { describe, expect, test } from 'vitest'
import { formatSubnet, freeSubnets, overlaps, parseRoutes, parseSubnet, type Subnet } from '../../../src/host-agent/network/subnets.ts'

const subnet = (text: string): Subnet => {
  const found = parseSubnet(text)
  if (found === undefined) throw new Error(text)
  return found
}

describe('ranges of addresses', () => {
  test.each(['10.1.2.0/24', '10.1.2.3/32', '0.0.0.0/0', '255.255.255.255/32', '128.0.0.0/1'])('%s is one', (text) => {
    expect(formatSubnet(subnet(text))).toBe(text)
  })

  test('a single address is a range of one', () => expect(formatSubnet(subnet('10.1.2.3'))).toBe('10.1.2.3/32'))

  test.each(['10.1.2.1/24', '10.1.2/24', '10.1.2.256', '10.1.2.0/33', 'fd00::/8', '', '10.1.2.0/24; drop', '10.1.2.0/'])(
    '%s is no range',
    (text) => {
      expect(parseSubnet(text)).toBeUndefined()
    },
  )

  test.each([
    ['10.0.0.0/8', '10.1.2.0/24', true],
    ['10.1.2.0/24', '10.1.3.0/24', false],
    ['10.1.2.0/24', '10.1.2.255/32', true],
  ])('%s and %s', (a, b, met) => {
    expect([overlaps(subnet(a), subnet(b)), overlaps(subnet(b), subnet(a))]).toEqual([met, met])
  })
})

describe('[HOST-81] networks for accounts', () => {
  const free = (taken: readonly string[], offset = 0, limit = 2) => freeSubnets(taken.map(subnet), offset, limit).map(formatSubnet)

  test('begin anywhere in the first range, and wrap around', () => {
    expect(free([])).toEqual(['10.192.0.0/24', '10.192.1.0/24'])
    expect(free([], 0.999_999)).toEqual(['10.223.255.0/24', '10.192.0.0/24'])
  })

  test('skip subnets with a route elsewhere, and whole ranges with one', () => {
    expect(free(['10.192.0.0/24', '10.192.1.128/25'])).toEqual(['10.192.2.0/24', '10.192.3.0/24'])
    expect(free(['10.0.0.0/8', '172.16.0.0/16'])).toEqual(['172.17.0.0/24', '172.17.1.0/24'])
    expect(free(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'])).toEqual(['100.64.0.0/24', '100.64.1.0/24'])
  })

  test('are hundreds in number', () => expect(freeSubnets([], 0, 8_192)).toHaveLength(8_192))

  test('the routes of a machine are read without its default one', () => {
    const table = [
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
      'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
      'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
      'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
      '',
    ].join('\n')
    expect(parseRoutes(table).map(formatSubnet)).toEqual(['192.0.2.0/24', '172.17.0.0/16'])
    expect(parseRoutes('')).toEqual([])
  })
})
