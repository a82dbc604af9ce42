import {
  diskNanosPerHour,
  monthlyNanosPerHour,
  nanosPerHour,
  networkVolumeNanosPerHour,
  SEED_STORAGE,
} from '../../../src/domain/catalog/storage.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('the price of storage', () => {
  it('[CAT-11] prices become whole billionths of a USD an hour; a month has 730 hours', () => {
    expect([nanosPerHour(0.69), nanosPerHour(0.1 + 0.2), nanosPerHour(0)]).toEqual([690_000_000, 300_000_000, 0])
    expect([monthlyNanosPerHour(730), monthlyNanosPerHour(0.1)]).toEqual([1_000_000_000, 136_986])
  })

  it('[SEED-4] a stopped pod pays twice for its persistent disk and nothing for its container', () => {
    expect(diskNanosPerHour(SEED_STORAGE, { containerGb: 730, persistentGb: 73 })).toEqual({
      running: 110_000_000,
      stopped: 20_000_000,
    })
  })

  it.each([
    ['STANDARD', 999, 95_794_521],
    ['STANDARD', 1_000, 95_890_411],
    ['STANDARD', 1_001, 95_958_904],
    ['HIGH_PERFORMANCE', 1_000, 191_780_822],
  ] as const)('[SEED-4] a %s network volume of %i GB costs its first TB at the first price', (type, sizeGb, nanos) => {
    expect(networkVolumeNanosPerHour(SEED_STORAGE, type, sizeGb)).toBe(nanos)
  })
})
