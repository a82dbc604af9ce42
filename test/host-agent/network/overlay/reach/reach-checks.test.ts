import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../../../src/host-agent/log.ts'
import { ReachChecks } from '../../../../../src/host-agent/network/overlay/reach/reach-checks.ts'
import type { Overlay, OverlayReport } from '../../../../../src/host-protocol/overlays.ts'

const HERE = '10.0.0.1'

function overlay(change: Partial<Overlay> = {}): Overlay {
  const members = [0, 1].map((rank) => ({
    podId: `p${rank}`,
    address: `10.64.1.${rank + 2}`,
    hostAddress: `10.0.0.${rank + 1}`,
    names: [`node-${rank}`],
  }))
  return { id: 'red', vni: 7, cidr: '10.64.1.0/24', members, check: 1, ...change }
}

function open() {
  const world = {
    overlay: overlay(),
    silent: new Set<string>(),
    nowMs: 0,
    probed: 0,
    asked: [] as string[][],
    way: 'plain' as 'plain' | 'encrypted' | 'refused',
    takes: true,
    told: [] as OverlayReport[],
  }
  const place = { id: 'red', address: '10.64.1.2', interface: 'ens1' }
  const attachment = { workloadId: 'p0-1', places: [place], pid: 1, addresses: [], hostsPath: null }
  const checks = new ReachChecks({
    overlays: {
      inventory: { address: HERE, reason: null, encryption: 'none' },
      wayTo: () => world.way,
      attached: () => [{ overlay: world.overlay, members: [{ attachment, place }] }],
    },
    probe: async (_pid, addresses) => {
      world.probed += 1
      world.asked.push([...addresses])
      return addresses.filter((address) => world.silent.has(address))
    },
    send: async (reports) => {
      if (world.takes) world.told.push(...reports)
      return world.takes
    },
    log: silentLog(),
    now: () => world.nowMs,
  })
  return { world, checks }
}

const READY = { overlayId: 'red', check: 1, ready: ['p0'], gaps: [] }

describe('whether members reach one another', () => {
  test('[NET-45] is reported for a member once everything else of it is ready, and only once', async () => {
    const { world, checks } = open()
    await checks.turn()
    expect(world).toMatchObject({ probed: 0, told: [] })
    checks.notePrepared('p0-1')
    await checks.turn()
    await checks.turn()
    expect(world).toMatchObject({ probed: 1, told: [READY] })
  })

  test('[NET-45] is repeated until the plane has received it', async () => {
    const { world, checks } = open()
    checks.notePrepared('p0-1')
    world.takes = false
    await checks.turn()
    world.takes = true
    await checks.turn()
    expect(world).toMatchObject({ probed: 1, told: [READY] })
  })

  test('[NET-45] an unreachable pair is named with both hosts, after the others had time, and is probed again until it succeeds', async () => {
    const { world, checks } = open()
    checks.notePrepared('p0-1')
    world.silent.add('10.64.1.3')
    await checks.turn()
    expect(world.told).toEqual([])
    world.nowMs = 5_000
    await checks.turn()
    const reason =
      'node-1 on host 10.0.0.2 does not answer node-0 on host 10.0.0.1 over the private network: check that firewalls allow UDP 4789 between 10.0.0.1 and 10.0.0.2 in both directions'
    expect(world.told).toEqual([{ overlayId: 'red', check: 1, ready: [], gaps: [{ from: 'p0', to: 'p1', reason }] }])
    world.silent.clear()
    await checks.turn()
    expect(world.told.slice(1)).toEqual([READY])
  })

  test('[HOST-161] the error of an unreachable pair names the port of WireGuard, or the host that does not encrypt', async () => {
    const { world, checks } = open()
    checks.notePrepared('p0-1')
    world.silent.add('10.64.1.3')
    const reasons: string[] = []
    for (const way of ['encrypted', 'refused'] as const) {
      world.way = way
      await checks.turn()
      world.nowMs += 5_000
      await checks.turn()
      reasons.push(world.told.at(-1)?.gaps[0]?.reason.split(': ')[1] ?? '')
    }
    expect(reasons).toEqual([
      'check that firewalls allow UDP 51821 between 10.0.0.1 and 10.0.0.2 in both directions',
      'that host does not encrypt, and this one requires it',
    ])
  })

  test('[NET-45] is checked anew under another number, and when a member has moved', async () => {
    const { world, checks } = open()
    checks.notePrepared('p0-1')
    await checks.turn()
    world.overlay = overlay({ check: 2 })
    await checks.turn()
    world.overlay = overlay({ check: 2, members: overlay().members.map((member) => ({ ...member, hostAddress: '10.0.0.9' })) })
    await checks.turn()
    expect(world.told.map(({ check, ready }) => ({ check, ready }))).toEqual([1, 2, 2].map((check) => ({ check, ready: ['p0'] })))
    expect(world.probed).toBe(3)
  })

  test('[NET-45] a member without a host is not probed, and keeps the others from being ready', async () => {
    const { world, checks } = open()
    checks.notePrepared('p0-1')
    const [first, second] = overlay().members
    world.overlay = overlay({ members: [first, second && { ...second, hostAddress: null }].flatMap((member) => member ?? []) })
    await checks.turn()
    world.nowMs = 5_000
    await checks.turn()
    expect(world.told).toEqual([
      { overlayId: 'red', check: 1, ready: [], gaps: [{ from: 'p0', to: 'p1', reason: 'node-1 is on no host yet' }] },
    ])
  })

  test('[NET-50] a member that has answered is not probed again in the same check', async () => {
    const { world, checks } = open()
    const third = { podId: 'p2', address: '10.64.1.4', hostAddress: '10.0.0.3', names: ['node-2'] }
    world.overlay = overlay({ members: [...overlay().members, third] })
    checks.notePrepared('p0-1')
    world.silent.add('10.64.1.4')
    await checks.turn()
    await checks.turn()
    world.silent.clear()
    await checks.turn()
    expect(world.asked).toEqual([['10.64.1.3', '10.64.1.4'], ['10.64.1.4'], ['10.64.1.4']])
    expect(world.told).toEqual([READY])
  })
})
