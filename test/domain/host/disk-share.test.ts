import fc from 'fast-check'
import { type DiskUse, diskRoom, withPod } from '../../../src/domain/host/disk-share.ts'
import { describe, expect, it } from '../../support/unit.ts'

const CORES = 16
const use = (change: Partial<DiskUse> = {}): DiskUse => ({ totalGb: 1_000, heldGb: 0, othersGb: 0, vcpusHeld: 0, ...change })

describe('[SHR-41] disk that pods of one person may hold of a machine', () => {
  it.each([
    ['alone there: all but a quarter', use(), 1, 750],
    ['less what it holds, stopped pods too', use({ heldGb: 700 }), 1, 50],
    ['beside others: as much as it leaves to them', use({ othersGb: 400 }), 1, 300],
    ['the part of the machine that it rents, where that is more', use({ othersGb: 500, vcpusHeld: 4 }), 4, 500],
    ['all of it with all vCPUs', use(), CORES, 1_000],
    ['never more than all', use(), 2 * CORES, 1_000],
    ['nothing on a machine without disk', use({ totalGb: 0 }), CORES, 0],
  ])('%s', (_what, given, vcpus, room) => {
    expect(diskRoom(given, vcpus, CORES)).toBe(room)
  })

  it('however many persons keep stopped pods, and whatever they do, the next one finds room', () => {
    const tries = fc.array(fc.record({ person: fc.nat(5), diskGb: fc.integer({ min: 1, max: 1_000 }) }), { maxLength: 60 })
    fc.assert(
      fc.property(tries, (wishes) => {
        const held = new Map<number, number>()
        const sum = () => [...held.values()].reduce((all, gb) => all + gb, 0)
        // Stopped pods hold no vCPU.
        const roomOf = (person: number) => {
          const own = held.get(person) ?? 0
          return diskRoom(use({ heldGb: own, othersGb: sum() - own }), 0, CORES)
        }
        for (const { person, diskGb } of wishes) {
          if (diskGb <= roomOf(person)) held.set(person, (held.get(person) ?? 0) + diskGb)
        }
        expect(sum()).toBeLessThan(1_000)
        expect(roomOf(99)).toBeGreaterThan(0)
      }),
    )
  })

  it('a pod that has taken its place leaves less', () => {
    expect(diskRoom(withPod(use(), { diskGb: 300, vcpus: 0 }), 0, CORES)).toBe(450)
  })
})
