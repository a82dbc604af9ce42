import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairRoom } from '../../src/host-protocol/fair-room.ts'

describe('[HOST-147] the share of an account on a host', () => {
  test('is three quarters for the only account, and half of the rest for each further one', () => {
    expect([fairRoom(100, 0), fairRoom(100, 75), fairRoom(100, 87), fairRoom(100, 100), fairRoom(100, 120)]).toEqual([75, 12, 6, 0, 0])
  })

  test('is half for the first account once another one holds something', () => {
    expect([fairRoom(100, 1), fairRoom(100, 20)]).toEqual([49, 40])
  })

  test('leaves to the next account as much as the last one took, however many take all they may', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (greed) => {
        const total = 1 << 20
        let taken = 0
        let last = Number.POSITIVE_INFINITY
        for (const part of greed) {
          const isAlone = taken === 0
          const takes = Math.floor(fairRoom(total, taken) * part)
          taken += takes
          // An account that was alone on the host leaves a third as much.
          last = isAlone ? Math.floor(takes / 3) : takes
        }
        expect(total - taken).toBeGreaterThanOrEqual(greed.length === 0 ? total : last)
      }),
    )
  })
})
