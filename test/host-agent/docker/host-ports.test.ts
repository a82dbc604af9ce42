import fc from 'fast-check'
import { describe, test } from 'vitest'
import { HostPorts } from '../../../src/host-agent/docker/ports/host-ports.ts'
import { choosePorts, type PortRequest } from '../../../src/host-agent/docker/ports/port-choice.ts'

const request = (change: Partial<PortRequest>): PortRequest => ({
  wanted: ['22/tcp'],
  range: { from: 30_000, to: 30_009 },
  avoid: new Set(),
  former: [],
  offset: 0,
  ...change,
})
const publics = (change: Partial<PortRequest>) => choosePorts(request(change))?.map((port) => port.public)

describe('choosePorts', () => {
  test('[HOST-56] begins somewhere in the range and goes round', ({ expect }) => {
    expect(publics({ offset: 0.5 })).toEqual([30_005])
    expect(publics({ offset: 0.95, avoid: new Set([30_009]) })).toEqual([30_000])
    expect(publics({ offset: 1 })).toEqual([30_009])
  })

  test('[HOST-56] a pod gets its former ports again where they are free and in the range', ({ expect }) => {
    const former = [{ private: 22, public: 30_007, type: 'tcp' }]
    expect(publics({ former })).toEqual([30_007])
    expect(publics({ former, avoid: new Set([30_007]) })).toEqual([30_000])
    expect(publics({ former: [{ private: 22, public: 29_999, type: 'tcp' }] })).toEqual([30_000])
    expect(publics({ former: [{ private: 23, public: 30_007, type: 'tcp' }] })).toEqual([30_000])
  })

  test('a port that is asked for twice is published and told once', ({ expect }) => {
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
    const former = [{ private: 30_004, public: 30_004, type: 'tcp' }]
    expect(publics({ wanted: ['70000/tcp'], former })).toEqual([30_004])
  })

  test('is undefined when the range has one too few', ({ expect }) => {
    const range = { from: 30_000, to: 30_001 }
    expect(publics({ range, wanted: ['1/tcp', '2/tcp'] })).toEqual([30_000, 30_001])
    expect(publics({ range, wanted: ['1/tcp', '2/tcp', '3/tcp'] })).toBeUndefined()
  })

  test('never gives one host port to two, one out of the range or one to be avoided', ({ expect }) => {
    const number = fc.integer({ min: 30_000, max: 30_020 })
    const port = fc.record({ private: fc.constantFrom(22, 80, 30_003), public: number, type: fc.constant('tcp') })
    const wanted = fc.uniqueArray(fc.constantFrom('22/tcp', '80/http', '30003/tcp', '70000/tcp', '70001/tcp'))
    const avoid = fc.uniqueArray(number)
    fc.assert(
      fc.property(wanted, avoid, fc.array(port), fc.double({ min: 0, max: 1, noNaN: true }), (names, taken, former, offset) => {
        const chosen = publics({ wanted: names, avoid: new Set(taken), former, offset })
        if (chosen === undefined) return
        expect(new Set(chosen).size).toBe(chosen.length)
        for (const one of chosen) expect(one >= 30_000 && one <= 30_009 && !taken.includes(one)).toBe(true)
      }),
    )
  })
})

describe('HostPorts', () => {
  test('[HOST-57] leaves out what others hold and what is taken, and gives it back', async ({ expect }) => {
    const ports = new HostPorts({ range: { from: 30_000, to: 30_002 }, random: () => 0, isFree: async (port) => port !== 30_000 })
    const reserve = async (id: string) => (await ports.reserve(id, ['22/tcp'], [], new Set())).map((port) => port.public)
    expect((await Promise.all([reserve('a'), reserve('b')])).flat().toSorted()).toEqual([30_001, 30_002])
    await expect(reserve('c')).rejects.toThrow('port 30000 is already taken on this host, and no other of 30000-30002 is free')
    ports.release('a')
    const [port = 0] = await reserve('c')
    ports.release('c')
    ports.adopt('d', [{ private: 22, public: port, type: 'tcp' }])
    await expect(reserve('e')).rejects.toThrow('port 30000 is already taken')
  })

  test('says so when all are in use by its own workloads', async ({ expect }) => {
    const ports = new HostPorts({ range: { from: 30_000, to: 30_000 }, isFree: async () => true })
    await ports.reserve('a', ['22/tcp'], [], new Set())
    await expect(ports.reserve('b', ['22/tcp'], [], new Set())).rejects.toThrow('no host port of 30000-30000 is free on this host')
  })
})
