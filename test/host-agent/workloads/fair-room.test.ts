import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairRoom } from '../../../src/host-agent/workloads/fair-room.ts'

describe('[HOST-147] what accounts share on a host', () => {
  test('is half for the one that is alone, and for each further one half of what is left', () => {
    expect([fairRoom(100, 0), fairRoom(100, 50), fairRoom(100, 75), fairRoom(100, 100), fairRoom(100, 120)]).toEqual([50, 25, 12, 0, 0])
  })

  test('however many take all that they may, the next finds as much as the last has taken', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (greed) => {
        const total = 1 << 20
        let taken = 0
        let last = Number.POSITIVE_INFINITY
        for (const part of greed) {
          last = Math.floor(fairRoom(total, taken) * part)
          taken += last
        }
        expect(total - taken).toBeGreaterThanOrEqual(greed.length === 0 ? total : last)
      }),
    )
  })
})
