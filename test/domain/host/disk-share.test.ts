import fc from 'fast-check'
import { type DiskUse, diskRoom } from '../../../src/domain/host/disk-share.ts'
import { describe, expect, it } from '../../support/unit.ts'

const use = (change: Partial<DiskUse> = {}): DiskUse => ({ totalGb: 1_000, heldGb: 0, othersGb: 0, ...change })

describe('[SHR-41] disk that pods of one person may hold of a machine', () => {
  it.each([
    ['alone there: all but a quarter', use(), 750],
    ['less what it holds, stopped pods too', use({ heldGb: 700 }), 50],
    ['nothing more beyond its share, which others have made smaller', use({ heldGb: 700, othersGb: 250 }), 0],
    ['beside others: as much as it leaves to them', use({ othersGb: 400 }), 300],
    ['nothing on a machine without disk', use({ totalGb: 0 }), 0],
  ])('%s', (_what, given, room) => {
    expect(diskRoom(given)).toBe(room)
  })

  it('leaves room for the next person, however many persons have pods', () => {
    const tries = fc.array(fc.record({ person: fc.nat(5), diskGb: fc.integer({ min: 1, max: 1_000 }) }), { maxLength: 60 })
    fc.assert(
      fc.property(tries, (queries) => {
        const held = new Map<number, number>()
        const sum = () => [...held.values()].reduce((all, gb) => all + gb, 0)
        const roomOf = (person: number) => {
          const own = held.get(person) ?? 0
          return diskRoom(use({ heldGb: own, othersGb: sum() - own }))
        }
        for (const { person, diskGb } of queries) {
          if (diskGb <= roomOf(person)) held.set(person, (held.get(person) ?? 0) + diskGb)
        }
        expect(sum()).toBeLessThan(1_000)
        expect(roomOf(99)).toBeGreaterThan(0)
      }),
    )
  })
})
