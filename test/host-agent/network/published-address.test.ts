import { describe, expect, test } from 'vitest'
import { bindAddresses } from '../../../src/host-agent/network/published-address.ts'

describe('[HOST-83] [M1] the address that a port is bound on', () => {
  const bound = (types: readonly string[], publicIp: string | null, own: readonly string[] = ['198.51.100.2'], httpIp = '127.0.0.1') =>
    bindAddresses(types, { publicIp, httpIp, ownAddresses: new Set(own) })

  test('http: loopback, or the setting of the operator, whatever the public address', () => {
    expect([bound(['http'], null), bound(['http'], '198.51.100.2'), bound(['http'], '203.0.113.7')]).toEqual([
      ['127.0.0.1'],
      ['127.0.0.1'],
      ['127.0.0.1'],
    ])
    expect(bound(['http'], '198.51.100.2', [], '10.0.0.5')).toEqual(['10.0.0.5'])
  })

  test('tcp: the public address; all addresses where that is translated; loopback where there is none', () => {
    expect(bound(['tcp'], '198.51.100.2')).toEqual(['198.51.100.2'])
    expect(bound(['tcp'], '203.0.113.7')).toEqual(['0.0.0.0'])
    expect(bound(['tcp'], '2001:db8::7')).toEqual(['::'])
    expect(bound(['tcp'], null)).toEqual(['127.0.0.1'])
    expect(bound(['tcp'], '127.0.0.1', [])).toEqual(['127.0.0.1'])
  })

  test('a port of both types has the address of each, once', () => {
    expect(bound(['http', 'tcp'], '198.51.100.2')).toEqual(['127.0.0.1', '198.51.100.2'])
    expect(bound(['tcp', 'http'], '203.0.113.7')).toEqual(['0.0.0.0'])
    expect(bound(['tcp', 'http'], null)).toEqual(['127.0.0.1'])
  })
})
