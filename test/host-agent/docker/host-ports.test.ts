import fc from 'fast-check'
import { describe, test } from 'vitest'
import { HostPorts } from '../../../src/host-agent/docker/ports/host-ports.ts'
import { choosePorts, type PortRequest } from '../../../src/host-agent/docker/ports/port-choice.ts'

const request = (change: Partial<PortRequest>): PortRequest => ({
  wanted: ['22/tcp'],
  range: { from: 30_000, to: 30_009 },
  avoid: new Set(),
  previous: [],
  offset: 0,
  ...change,
})
const publics = (change: Partial<PortRequest>) => choosePorts(request(change))?.map((port) => port.public)

describe('choosePorts', () => {
  test('[HOST-56] begins at a random port of the range and wraps around', ({ expect }) => {
    expect(publics({ offset: 0.5 })).toEqual([30_005])
    expect(publics({ offset: 0.95, avoid: new Set([30_009]) })).toEqual([30_000])
    expect(publics({ offset: 1 })).toEqual([30_009])
  })

  test('[HOST-56] a pod gets its previous ports again where they are free and in the range', ({ expect }) => {
    const previous = [{ private: 22, public: 30_007, type: 'tcp' }]
    expect(publics({ previous })).toEqual([30_007])
    expect(publics({ previous, avoid: new Set([30_007]) })).toEqual([30_000])
    expect(publics({ previous: [{ private: 22, public: 29_999, type: 'tcp' }] })).toEqual([30_000])
    expect(publics({ previous: [{ private: 23, public: 30_007, type: 'tcp' }] })).toEqual([30_000])
  })

  test('a port that is requested twice is published and reported once', ({ expect }) => {
    expect(choosePorts(request({ wanted: ['22/tcp', '022/tcp', '22/tcp'] }))).toEqual([
      { requested: 22, private: 22, public: 30_000, type: 'tcp' },
    ])
  })

  test('both types of one port are one port of the host', ({ expect }) => {
    expect(choosePorts(request({ wanted: ['80/http', '80/tcp'] }))).toEqual([
      { requested: 80, private: 80, public: 30_000, type: 'http' },
      { requested: 80, private: 80, public: 30_000, type: 'tcp' },
    ])
  })

  test('[NET-4] from 70000 on it is the same inside and outside, and meets no other port inside', ({ expect }) => {
    expect(choosePorts(request({ wanted: ['70000/tcp', '30000/tcp'] }))).toEqual([
      { requested: 70_000, private: 30_001, public: 30_001, type: 'tcp' },
      { requested: 30_000, private: 30_000, public: 30_000, type: 'tcp' },
    ])
    expect(choosePorts(request({ wanted: ['69999/tcp'] }))).toMatchObject([{ private: 69_999, public: 30_000 }])
    const previous = [{ private: 30_004, public: 30_004, type: 'tcp' }]
    expect(publics({ wanted: ['70000/tcp'], previous })).toEqual([30_004])
  })

  test('is undefined when the range has one too few', ({ expect }) => {
    const range = { from: 30_000, to: 30_001 }
    expect(publics({ range, wanted: ['1/tcp', '2/tcp'] })).toEqual([30_000, 30_001])
    expect(publics({ range, wanted: ['1/tcp', '2/tcp', '3/tcp'] })).toBeUndefined()
  })

  test('never allocates a host port twice, outside the range or among those to avoid', ({ expect }) => {
    const number = fc.integer({ min: 30_000, max: 30_020 })
    const port = fc.record({ private: fc.constantFrom(22, 80, 30_003), public: number, type: fc.constant('tcp') })
    const wanted = fc.uniqueArray(fc.constantFrom('22/tcp', '80/http', '30003/tcp', '70000/tcp', '70001/tcp'))
    const avoid = fc.uniqueArray(number)
    fc.assert(
      fc.property(wanted, avoid, fc.array(port), fc.double({ min: 0, max: 1, noNaN: true }), (names, taken, previous, offset) => {
        const chosen = publics({ wanted: names, avoid: new Set(taken), previous, offset })
        if (chosen === undefined) return
        expect(new Set(chosen).size).toBe(chosen.length)
        for (const one of chosen) expect(one >= 30_000 && one <= 30_009 && !taken.includes(one)).toBe(true)
      }),
    )
  })
})

const ask = (id: string, account = 'ada', wanted = ['22/tcp']) => ({ id, account, wanted, previous: [] })

describe('HostPorts', () => {
  test('[HOST-57] skips ports that are held or taken, and releases them', async ({ expect }) => {
    const ports = new HostPorts({ range: { from: 30_000, to: 30_002 }, random: () => 0, isFree: async (port) => port !== 30_000 })
    const reserve = async (id: string) => (await ports.reserve(ask(id), new Set())).map((port) => port.public)
    expect((await Promise.all([reserve('a'), reserve('b')])).flat().toSorted()).toEqual([30_001, 30_002])
    await expect(reserve('c')).rejects.toThrow('port 30000 is already taken on this host, and no other of 30000-30002 is free')
    ports.release('a')
    const [port = 0] = await reserve('c')
    ports.release('c')
    ports.adopt('d', 'ada', [{ private: 22, public: port, type: 'tcp' }])
    await expect(reserve('e')).rejects.toThrow('port 30000 is already taken')
  })

  test('reports that all ports are in use by its own workloads', async ({ expect }) => {
    const ports = new HostPorts({ range: { from: 30_000, to: 30_000 }, isFree: async () => true })
    await ports.reserve(ask('a'), new Set())
    await expect(ports.reserve(ask('b'), new Set())).rejects.toThrow('no host port of 30000-30000 is free on this host')
  })

  describe('[HOST-148] an account among other tenants', () => {
    const several = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}/tcp`)
    const open = (isShared: boolean) =>
      new HostPorts({ range: { from: 30_000, to: 30_031 }, isShared: () => isShared, isFree: async () => true })
    const REFUSED = 'this account has reached its share of host ports on this host: with it they are'

    test('takes as many ports as it leaves to others, so that the next one always has some', async ({ expect }) => {
      const ports = open(true)
      await ports.reserve(ask('e1', 'eve', several(24)), new Set())
      await expect(ports.reserve(ask('e2', 'eve', several(1)), new Set())).rejects.toThrow(`${REFUSED} 25, and 24 are for this account`)
      await ports.reserve(ask('m1', 'mallory', several(4)), new Set())
      await expect(ports.reserve(ask('m2', 'mallory', several(1)), new Set())).rejects.toThrow(`${REFUSED} 5, and 4 are for this account`)
      await ports.reserve(ask('a1', 'ada', several(2)), new Set())
      // A restart takes nothing from others, and released ports are available to all.
      await ports.reserve(ask('e1', 'eve', several(24)), new Set())
      ports.release('e1')
      await ports.reserve(ask('a2', 'ada', several(8)), new Set())
      await ports.reserve(ask('m1', 'mallory', several(4)), new Set())
      await expect(ports.reserve(ask('e1', 'eve', several(12)), new Set())).rejects.toThrow(`${REFUSED} 12, and 9 are for this account`)
    })

    test('is also charged for ports that a previous agent process allocated', async ({ expect }) => {
      const ports = open(true)
      ports.adopt(
        'e1',
        'eve',
        Array.from({ length: 24 }, (_, index) => ({ private: index + 1, public: 30_000 + index, type: 'tcp' })),
      )
      await expect(ports.reserve(ask('e2', 'eve', several(1)), new Set())).rejects.toThrow(REFUSED)
    })

    test('may take all where accounts trust one another, and needs none for a workload without ports', async ({ expect }) => {
      const ports = open(false)
      await ports.reserve(ask('e1', 'eve', several(32)), new Set())
      const full = open(true)
      full.adopt(
        'e1',
        'eve',
        Array.from({ length: 32 }, (_, index) => ({ private: index + 1, public: 30_000 + index, type: 'tcp' })),
      )
      expect(await full.reserve(ask('a1', 'ada', []), new Set())).toEqual([])
    })
  })
})
