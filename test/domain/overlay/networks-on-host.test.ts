import { describe, expect, it } from 'vitest'
import { describeOverlays, type NetworkMember, type NetworkOnHost, othersConcerned } from '../../../src/domain/overlay/networks-on-host.ts'

function network(change: Partial<NetworkOnHost> = {}): NetworkOnHost {
  const members = ['a', 'b'].map((host, rank) => {
    return {
      podId: `p${rank}`,
      rank,
      address: `10.64.3.${rank + 2}`,
      hostId: host,
      hostAddress: `192.0.2.${rank + 1}`,
      hostKey: null,
      hostMtu: null,
    }
  })
  return { id: 'n', kind: 'cluster', slot: 3, checkNumber: 2, members, ...change }
}

describe('the private networks in the state of a host', () => {
  it('[NET-46] have the number, the range, the check and all members', () => {
    expect(describeOverlays([network()], 'podplane.internal')).toEqual([
      {
        id: 'n',
        vni: 0x10_0003,
        domain: 'podplane.internal',
        cidr: '10.64.3.0/24',
        check: 2,
        members: [
          { podId: 'p0', address: '10.64.3.2', hostAddress: '192.0.2.1', names: ['node-0'] },
          { podId: 'p1', address: '10.64.3.3', hostAddress: '192.0.2.2', names: ['node-1'] },
        ],
      },
    ])
  })

  it('[NET-3] list pods of an account under the internal domain, without a reachability check', () => {
    const members = [{ podId: 'Pod1', rank: null, address: '10.96.0.2', hostId: 'a', hostAddress: null, hostKey: null, hostMtu: null }]
    expect(describeOverlays([network({ kind: 'account', slot: 0, checkNumber: 0, members })], 'corp.internal')).toEqual([
      {
        id: 'n',
        vni: 0x20_0000,
        domain: 'corp.internal',
        cidr: '10.96.0.0/22',
        members: [{ podId: 'Pod1', address: '10.96.0.2', hostAddress: null, names: ['pod1.corp.internal'] }],
      },
    ])
  })

  it('[HOST-161] [HOST-162] have the keys of hosts with one, and the largest packet that all of them carry', () => {
    const [first, second] = network().members as [NetworkMember, NetworkMember]
    const members = [
      { ...first, hostKey: 'key-a', hostMtu: 8_950 },
      { ...first, podId: 'p2', hostKey: 'key-a', hostMtu: 8_950 },
    ]
    const said = (...all: NetworkMember[]) => {
      const [{ hosts, mtu } = { hosts: [], mtu: 0 }] = describeOverlays([network({ members: all })], 'x.internal')
      return { hosts, mtu }
    }
    expect(said(...members, { ...second, hostMtu: 1_400 })).toEqual({ hosts: [{ address: '192.0.2.1', publicKey: 'key-a' }], mtu: 1_400 })
    expect(said(...members, second)).toEqual({ hosts: [{ address: '192.0.2.1', publicKey: 'key-a' }], mtu: 8_950 })
    expect(said(first, { ...second, hostAddress: null, hostKey: 'key-b' })).toEqual({ hosts: undefined, mtu: undefined })
  })

  it('[NET-46] are sent to the hosts of changed networks, and to no others', () => {
    const moved = network({ members: network().members.map((member) => ({ ...member, hostId: member.rank === 1 ? 'c' : 'a' })) })
    const other = network({ id: 'o', members: network().members.map((member) => ({ ...member, hostId: 'z' })) })
    expect(othersConcerned('a', [network(), other], [moved, other])).toEqual(['b', 'c'])
    expect(othersConcerned('a', [network()], [network()])).toEqual([])
    expect(othersConcerned('a', [], [network()])).toEqual(['b'])
    expect(othersConcerned('b', [network()], [])).toEqual(['a'])
  })
})
