import { describe, expect, it } from 'vitest'
import { resolveTunnelEnds } from '../../../src/domain/overlay/ends.ts'
import type { NetworkMember, NetworkOnHost } from '../../../src/domain/overlay/networks-on-host.ts'

const KEYS = { self: 'key-self', victim: 'key-victim', thief: 'key-thief' }

function member(hostId: keyof typeof KEYS, change: Partial<NetworkMember> = {}): NetworkMember {
  const hostAddress = { self: '192.0.2.1', victim: '192.0.2.2', thief: '192.0.2.3' }[hostId]
  return { podId: `p-${hostId}`, rank: null, address: '10.96.0.2', hostId, hostAddress, hostKey: KEYS[hostId], hostMtu: 1_400, ...change }
}

function network(id: string, ...members: NetworkMember[]): NetworkOnHost {
  return { id, kind: 'account', slot: 1, checkNumber: 0, members }
}

const OF_VICTIM = network('a', member('self'), member('victim'))
/** The tunnel ends that a machine gets for the lying host, and for the one that it impersonates. */
function received(before: readonly NetworkOnHost[], ...after: NetworkOnHost[]) {
  const { networks, doubts } = resolveTunnelEnds('self', before, after)
  const seen = (hostId: string) =>
    networks.flatMap(({ members }) =>
      members.filter((one) => one.hostId === hostId).map(({ hostAddress, hostKey }) => [hostAddress, hostKey]),
    )
  return { self: seen('self'), victim: seen('victim'), thief: seen('thief'), doubts }
}
const OWN = {
  self: [
    ['192.0.2.1', 'key-self'],
    ['192.0.2.1', 'key-self'],
  ],
  victim: [['192.0.2.2', 'key-victim']],
}
const NOWHERE = [[null, null]]

describe('[NET-61] ends of tunnels', () => {
  it.each([
    ['the address of another, with a key of its own', { hostAddress: '192.0.2.2' }],
    ['the address of another, without a key', { hostAddress: '192.0.2.2', hostKey: null }],
    ['the key of another, at an address of its own', { hostKey: 'key-victim' }],
    ['both', { hostAddress: '192.0.2.2', hostKey: 'key-victim' }],
    ['the address of the machine itself', { hostAddress: '192.0.2.1' }],
    ['the key of the machine itself', { hostKey: 'key-self' }],
  ])('a host that claims %s is not reached, and the other stays as it is', (_, lie) => {
    const after = received([OF_VICTIM], OF_VICTIM, network('b', member('self'), member('thief', lie)))
    expect(after).toMatchObject({ ...OWN, thief: NOWHERE })
    expect(after.doubts).toEqual([{ hostId: 'thief', holderId: expect.stringMatching(/^(self|victim)$/) }])
  })

  it('the later claimant is not reached, whether it is right or not: no host gets traffic of another', () => {
    const lie = network('b', member('self'), member('thief', { hostAddress: '192.0.2.2' }))
    const after = received([lie], OF_VICTIM, lie)
    expect([after.victim, after.thief]).toEqual([NOWHERE, [['192.0.2.2', 'key-thief']]])
    expect(received([], OF_VICTIM, lie).victim).toEqual(NOWHERE)
  })

  it('a host that reports its own end again is reached again', () => {
    const lie = network('b', member('self'), member('thief', { hostAddress: '192.0.2.2' }))
    const { networks } = resolveTunnelEnds('self', [OF_VICTIM], [OF_VICTIM, lie])
    const after = received(networks, OF_VICTIM, network('b', member('self'), member('thief')))
    expect(after).toEqual({ ...OWN, thief: [['192.0.2.3', 'key-thief']], doubts: [] })
  })

  it('many members on one host are no contradiction, nor are unknown hosts', () => {
    const networks = [
      network('a', member('self'), member('victim'), member('victim', { podId: 'p2' })),
      network('b', member('victim'), member('thief', { hostAddress: null, hostKey: null })),
    ]
    expect(resolveTunnelEnds('self', [], networks)).toEqual({ networks, doubts: [] })
  })

  it.each(['127.0.0.1', '0.0.0.0', '169.254.169.254', '224.0.0.1', '239.1.2.3', '255.255.255.255', '2001:db8::1', '::ffff:192.0.2.2'])(
    'no tunnel leads to %s',
    (hostAddress) => {
      expect(received([OF_VICTIM], OF_VICTIM, network('b', member('thief', { hostAddress }))).thief).toEqual(NOWHERE)
    },
  )

  it.each(['10.64.0.7', '192.168.1.2', '203.0.113.9', '169.253.0.1', '223.255.255.254'])('a tunnel can lead to %s', (hostAddress) => {
    expect(received([], network('b', member('thief', { hostAddress }))).thief).toEqual([[hostAddress, 'key-thief']])
  })
})
