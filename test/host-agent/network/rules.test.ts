import { describe, expect, test } from 'vitest'
import { boundsOf } from '../../../src/host-agent/network/connection-bounds.ts'
import { containerResolvers, parseNameServers } from '../../../src/host-agent/network/dns/resolvers.ts'
import { agentKey, bridgeName, networkName } from '../../../src/host-agent/network/names.ts'
import { removeTable } from '../../../src/host-agent/network/nft-text.ts'
import { buildRules, filterTable, type Reach } from '../../../src/host-agent/network/rules.ts'

const NOTHING: Reach = { relay: undefined, nameServers: [], allowed: [], published: undefined, connections: boundsOf('262144') }
const REFUSE = 'reject with icmpx type admin-prohibited'
const BEGIN = 'ct state new jump begin'

/** The rules of a chain. */
function chain(name: string, reach: Partial<Reach>): string[] {
  const text = buildRules('abcde', { ...NOTHING, ...reach })
  const [, body = ''] = new RegExp(`chain ${name} \\{\\n([^}]*(?:\\{[^}]*\\}[^}]*)*?)\\n  \\}`).exec(text) ?? []
  return body.split('\n').map((line) => line.trim())
}

describe('[HOST-82] the rules of an agent', () => {
  test('replace the table in one step and concern only its own bridges', () => {
    const text = buildRules('abcde', NOTHING)
    expect(text.split('\n').slice(0, 3)).toEqual([
      'table inet podplane-abcde {}',
      'delete table inet podplane-abcde',
      'table inet podplane-abcde {',
    ])
    expect(chain('input', {})).toEqual(['type filter hook input priority -10; policy accept;', 'iifname "pp-abcde*" jump to_host'])
    expect(chain('forward', {})).toEqual([
      'type filter hook forward priority -10; policy accept;',
      'iifname "pp-abcde*" jump outward',
      'oifname "pp-abcde*" jump inward',
    ])
    expect(text).not.toContain('chain published')
    expect(removeTable(filterTable('abcde')).split('\n').slice(0, 2)).toEqual([
      'table inet podplane-abcde {}',
      'delete table inet podplane-abcde',
    ])
  })

  test('open nothing of the host by themselves', () => {
    expect(chain('to_host', {})).toEqual(['ct direction reply ct state established,related accept', BEGIN, REFUSE])
  })

  test('open the relay, name servers, single allowed addresses, and published ports', () => {
    const reach = {
      relay: { address: '172.17.0.1', port: 4_000 },
      nameServers: ['10.0.0.2', '169.254.169.253'],
      allowed: ['10.1.2.0/24', '10.9.9.9/32'],
      published: { address: '198.51.100.2', from: 30_000, to: 32_767 },
    }
    const names = 'ip daddr { 10.0.0.2, 169.254.169.253 } meta l4proto { tcp, udp } th dport 53 accept'
    expect(chain('to_host', reach)).toEqual([
      'ct direction reply ct state established,related accept',
      BEGIN,
      'ip daddr 172.17.0.1 tcp dport 4000 accept',
      names,
      'ip daddr 10.9.9.9/32 accept',
      'ip daddr 198.51.100.2 tcp dport 30000-32767 accept',
      REFUSE,
    ])
    const outward = chain('outward', reach)
    expect(outward.slice(1, -1)).toEqual([
      BEGIN,
      `meta nfproto ipv6 ${REFUSE}`,
      // [HOST-142]
      `udp dport 4789 ${REFUSE}`,
      `oifname "pp-*" ${REFUSE}`,
      names,
      'ip daddr 10.1.2.0/24 accept',
      'ip daddr 10.9.9.9/32 accept',
    ])
    for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16', '224.0.0.0/3']) {
      expect(outward.at(-1)).toContain(range)
    }
    expect(chain('published', reach)).toEqual([
      'type nat hook prerouting priority -110; policy accept;',
      'iifname "pp-abcde*" ip daddr 198.51.100.2 tcp dport 30000-32767 dnat ip to 198.51.100.2',
    ])
  })
})

describe('[NET-73] questions for names of private networks', () => {
  const names = { address: '172.17.0.1', port: 4_053 }
  const at = 'ip daddr 172.17.0.1 meta l4proto { tcp, udp } th dport 4053'

  test('are directed to the agent only from its own networks, with addresses of that network, at a bounded rate', () => {
    expect(chain('published', { names })).toEqual([
      'type nat hook prerouting priority -110; policy accept;',
      'iifname "pp-abcde*" ip daddr 169.254.53.53 meta l4proto { tcp, udp } th dport 53 dnat ip to 172.17.0.1:4053',
    ])
    expect(chain('to_host', { names }).slice(2, -1)).toEqual([
      `${at} fib saddr . iif oif missing drop`,
      'ip daddr 172.17.0.1 udp dport 4053 udp length > 340 drop',
      `${at} update @asking { iif . ip saddr limit rate over 200/second burst 200 packets } drop`,
      `${at} update @asking_together { iif limit rate over 1000/second burst 500 packets } drop`,
      `${at} accept`,
    ])
    expect(buildRules('abcde', NOTHING)).not.toContain('asking')
  })
})

describe('[NET-60] connections of an account', () => {
  test('are a part of the kernel table, whatever its size', () => {
    expect(boundsOf('262144\n')).toEqual({ open: 8_192, perSecond: 512, burst: 4_096 })
    expect(boundsOf('1048576')).toEqual({ open: 32_768, perSecond: 2_048, burst: 16_384 })
    expect(boundsOf('')).toEqual({ open: 2_048, perSecond: 128, burst: 1_024 })
    expect(boundsOf('16')).toEqual({ open: 16, perSecond: 1, burst: 8 })
  })

  test('are counted by its network, those begun apart from those received, before any is let through', () => {
    expect(chain('begin', {})).toEqual([
      `meta l4proto tcp update @paced { iif limit rate over 512/second burst 4096 packets } ${REFUSE}`,
      `add @begun { iif . th sport & 480 ct count over 512 } ${REFUSE}`,
      'meta l4proto tcp ct timeout set "closed"',
    ])
    expect(chain('inward', {})).toEqual(['ct state established,related accept', 'ct status dnat jump receive', 'drop'])
    expect(chain('receive', {})).toEqual([
      'add @received { oif . th sport & 480 ct count over 512 } drop',
      'meta l4proto tcp ct timeout set "closed"',
      'accept',
    ])
  })
})

describe('names', () => {
  test('of two agents and of two accounts differ, and fit an interface', () => {
    const keys = [agentKey('a'), agentKey('b')]
    const bridges = keys.flatMap((key) => [bridgeName(key, 'ada'), bridgeName(key, 'bob')])
    expect(new Set(bridges).size).toBe(4)
    for (const bridge of bridges) expect(bridge).toMatch(/^pp-[0-9a-z]{12}$/)
    expect(networkName(keys[0] ?? '', 'ada')).toMatch(/^podplane-[0-9a-z]{5}-[0-9a-z]{7}$/)
  })
})

test('name servers: IPv4, those on loopback aside, in their order', () => {
  const stub = '# comment\nnameserver 127.0.0.53\noptions edns0\n'
  const real = 'nameserver 10.0.0.2\nnameserver fe80::1%eth0\nnameserver 10.0.0.2\n nameserver 1.1.1.1\nnameserver none\n'
  expect(parseNameServers([stub, real])).toEqual(['10.0.0.2', '1.1.1.1'])
})

describe('[NET-72] how containers of private networks find names', () => {
  test('the agent is asked first, then the name servers of the machine, in their order', () => {
    const file = 'nameserver 10.0.0.2\nnameserver 1.1.1.1\nnameserver 9.9.9.9\nsearch corp.example x;y podplane.internal\n'
    expect(containerResolvers('podplane.internal', [file])).toEqual({
      Dns: ['169.254.53.53', '10.0.0.2', '1.1.1.1'],
      DnsSearch: ['podplane.internal', 'corp.example'],
      DnsOptions: ['ndots:1'],
    })
    expect(containerResolvers('podplane.internal', [''])?.Dns).toEqual(['169.254.53.53'])
  })

  test('the name servers configured in the engine come before those in the files of the machine', () => {
    const file = 'nameserver 10.0.0.2\nsearch corp.example\n'
    const received = { dns: ['9.9.9.9'], 'dns-search': ['lab.example'], mtu: 9_000 }
    expect(containerResolvers('podplane.internal', [file], JSON.stringify(received))).toMatchObject({
      Dns: ['169.254.53.53', '9.9.9.9'],
      DnsSearch: ['podplane.internal', 'lab.example'],
    })
    for (const text of ['', '{', '{}', '[]', '{"dns":"9.9.9.9"}'])
      expect(containerResolvers('x.internal', [file], text)?.Dns).toEqual(['169.254.53.53', '10.0.0.2'])
  })

  test('nothing is changed where the engine queries from the host', () => {
    expect(containerResolvers('podplane.internal', ['nameserver 127.0.0.1\n', ''])).toBeUndefined()
    expect(containerResolvers('podplane.internal', ['nameserver 127.0.0.53\n', 'nameserver 10.0.0.2\n'])?.Dns).toHaveLength(2)
  })
})
