import { describe, expect, it } from 'vitest'
import { memberAddress, OVERLAY_POOLS, overlayOf, overlayRoom } from '../../../src/domain/overlay/addresses.ts'
import { overlaps, parseSubnet, type Subnet } from '../../../src/host-agent/network/subnets.ts'

describe('ranges of private networks', () => {
  it('[NET-41] stand side by side, in pools that neither touch one another nor those of the accounts of a host', () => {
    expect(overlayOf('cluster', 0)).toEqual({ vni: 0x10_0000, cidr: '10.64.0.0/24' })
    expect(overlayOf('cluster', 8191)).toEqual({ vni: 0x10_1fff, cidr: '10.95.255.0/24' })
    expect(overlayOf('account', 0)).toEqual({ vni: 0x20_0000, cidr: '10.96.0.0/22' })
    expect(overlayOf('account', 2047)).toEqual({ vni: 0x20_07ff, cidr: '10.127.252.0/22' })
    expect(OVERLAY_POOLS.cluster.firstVni + OVERLAY_POOLS.cluster.slots).toBeLessThanOrEqual(OVERLAY_POOLS.account.firstVni)
    const ofHosts = subnet('10.192.0.0/11')
    expect(overlaps(subnet('10.64.0.0/10'), ofHosts)).toBe(false)
    expect(overlaps(subnet(overlayOf('cluster', 8191).cidr), subnet(overlayOf('account', 0).cidr))).toBe(false)
  })

  it('[NET-41] have an address for every member, and none of those is the first two or the last of its range', () => {
    expect(memberAddress('cluster', 3, 0)).toBe('10.64.3.2')
    expect(memberAddress('cluster', 3, overlayRoom('cluster') - 1)).toBe('10.64.3.254')
    expect(memberAddress('account', 1, overlayRoom('account') - 1)).toBe('10.96.7.254')
    expect(overlayRoom('cluster')).toBeGreaterThanOrEqual(250)
  })
})

function subnet(text: string): Subnet {
  const parsed = parseSubnet(text)
  if (parsed === undefined) throw new Error(text)
  return parsed
}
