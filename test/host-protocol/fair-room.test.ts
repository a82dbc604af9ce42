import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairRoom } from '../../src/host-protocol/fair-room.ts'

describe('[HOST-147] what accounts share on a host', () => {
  test('is all but a quarter for the one that is alone, and for each further one half of what is left', () => {
    expect([fairRoom(100, 0), fairRoom(100, 75), fairRoom(100, 87), fairRoom(100, 100), fairRoom(100, 120)]).toEqual([75, 12, 6, 0, 0])
  })

  test('is half for the one that was alone, once somebody else has something', () => {
    expect([fairRoom(100, 1), fairRoom(100, 20)]).toEqual([49, 40])
  })

  test('however many take all that they may, the next finds as much as the last has taken', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (greed) => {
        const total = 1 << 20
        let taken = 0
        let last = Number.POSITIVE_INFINITY
        for (const part of greed) {
          const isAlone = taken === 0
          const takes = Math.floor(fairRoom(total, taken) * part)
          taken += takes
          // Of one that had the host to itself a third as much is left.
          last = isAlone ? Math.floor(takes / 3) : takes
        }
        expect(total - taken).toBeGreaterThanOrEqual(greed.length === 0 ? total : last)
      }),
    )
  })
})
