import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { boundsOf } from '../../../src/host-agent/network/connection-bounds.ts'
import { PacketFilter } from '../../../src/host-agent/network/packet-filter.ts'
import type { Reach } from '../../../src/host-agent/network/rules.ts'
import { FakeNft } from '../support/fake-nft.ts'

const REACH: Reach = { relay: undefined, nameServers: [], allowed: [], published: undefined, connections: boundsOf('') }

function open() {
  const nft = new FakeNft()
  return { nft, filter: new PacketFilter('abcde', nft, silentLog()) }
}

describe('[HOST-82] the rules in the packet filter', () => {
  test('are set once and checked from then on', async () => {
    const { nft, filter } = open()
    await filter.keep(REACH)
    await filter.keep(REACH)
    expect(nft.applied).toBe(1)
    expect(nft.tables.get('podplane-abcde')).toContain('chain to_host')
  })

  test.each([
    ['removed', (nft: FakeNft) => nft.tables.clear()],
    ['emptied', (nft: FakeNft) => nft.tables.set('podplane-abcde', 'chain to_host {}')],
    ['added to', (nft: FakeNft) => nft.tables.set('podplane-abcde', `${nft.tables.get('podplane-abcde')} accept`)],
  ])('are set anew when another program has %s them, with a warning', async (_what, tamper) => {
    const { nft, filter } = open()
    await filter.keep(REACH)
    const before = nft.tables.get('podplane-abcde')
    tamper(nft)
    await filter.keep(REACH)
    expect([nft.applied, nft.tables.get('podplane-abcde')]).toEqual([2, before])
  })

  test('follow the desired rules', async () => {
    const { nft, filter } = open()
    await filter.keep(REACH)
    await filter.keep({ ...REACH, nameServers: ['10.0.0.2'] })
    expect(nft.tables.get('podplane-abcde')).toContain('10.0.0.2')
  })

  test('report a failure to the caller, and the next check tries again', async () => {
    const { nft, filter } = open()
    nft.failure = new Error('Operation not permitted')
    await expect(filter.keep(REACH)).rejects.toThrow('Operation not permitted')
    nft.failure = undefined
    await filter.keep(REACH)
    expect(nft.tables.has('podplane-abcde')).toBe(true)
    await filter.remove()
    expect([...nft.tables]).toEqual([])
  })

  test('are probed without a trace', async () => {
    const { nft, filter } = open()
    await filter.tryOut()
    expect([nft.applied, [...nft.tables]]).toEqual([1, []])
  })

  test('[NET-60] stand without a count of connections where the kernel has none', async () => {
    const { nft, filter } = open()
    const apply = nft.apply.bind(nft)
    nft.apply = async (script) => {
      if (script.includes('ct count')) throw new Error('No such file or directory')
      await apply(script)
    }
    await filter.tryOut()
    await filter.keep(REACH)
    const rules = nft.tables.get('podplane-abcde')
    expect([rules?.includes('chain to_host'), rules?.includes('@begun')]).toEqual([true, false])
  })

  test('[NET-73] have no name server where the kernel cannot look up the interface of an address', async () => {
    const { nft, filter } = open()
    const apply = nft.apply.bind(nft)
    nft.apply = async (script) => {
      if (script.includes('fib saddr')) throw new Error('No such file or directory')
      await apply(script)
    }
    await filter.tryOut()
    await filter.keep({ ...REACH, names: { address: '172.17.0.1', port: 4_053 } })
    const rules = nft.tables.get('podplane-abcde')
    expect([filter.leadsToNames, rules?.includes('@begun'), rules?.includes('4053')]).toEqual([false, true, false])
  })
})
