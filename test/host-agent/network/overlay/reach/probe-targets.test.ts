import { describe, expect, test } from 'vitest'
import { ALL_ASK_ALL_MAX, probeTargets } from '../../../../../src/host-agent/network/overlay/reach/probe-targets.ts'

/** A network of so many members, as many of them on each host. */
function network(count: number, onEach: number) {
  const members = Array.from({ length: count }, (_, rank) => {
    return { podId: `p${rank}`, address: `10.64.1.${rank}`, hostAddress: `10.0.0.${Math.floor(rank / onEach)}`, names: [] }
  })
  return { members, asked: members.map((self) => ({ self, others: probeTargets({ members }, self) })) }
}

describe('the members that a member probes before a start', () => {
  test('[NET-50] are all in a small network', () => {
    const { asked } = network(ALL_ASK_ALL_MAX, 8)
    expect(asked.map(({ others }) => others.length)).toEqual(Array(ALL_ASK_ALL_MAX).fill(ALL_ASK_ALL_MAX - 1))
  })

  test('[NET-50] are a share of a large one: each member is probed once by every other host, and by all of its own', () => {
    const { members, asked } = network(250, 8)
    const hosts = new Set(members.map(({ hostAddress }) => hostAddress))
    for (const member of members) {
      const by = asked.filter(({ others }) => others.includes(member)).map(({ self }) => self.hostAddress)
      const neighbours = members.filter(({ hostAddress }) => hostAddress === member.hostAddress).length - 1
      expect(by.filter((host) => host === member.hostAddress)).toHaveLength(neighbours)
      expect(by.filter((host) => host !== member.hostAddress).toSorted()).toEqual(
        [...hosts].filter((host) => host !== member.hostAddress).toSorted(),
      )
    }
    const calls = asked.reduce((sum, { others }) => sum + others.length, 0)
    expect(calls).toBe(250 * (hosts.size - 1) + 31 * 8 * 7 + 2)
  })
})
