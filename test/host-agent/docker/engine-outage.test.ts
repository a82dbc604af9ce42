import { describe, test } from 'vitest'
import { endedByOutage, extendOutage } from '../../../src/host-agent/docker/engine/engine-outage.ts'

describe('outages of the engine', () => {
  test('[HOST-62] a container that ended around one ended with the engine, any other did not', ({ expect }) => {
    const outage = extendOutage(extendOutage(undefined, 100_000), 110_000)
    expect(outage).toEqual({ fromMs: 100_000, toMs: 110_000 })
    expect([69_999, 70_000, 140_000, 140_001].map((atMs) => endedByOutage(atMs, outage))).toEqual([false, true, true, false])
    expect([endedByOutage(null, outage), endedByOutage(100_000, undefined)]).toEqual([false, false])
  })

  test('failures within half a minute are one outage', ({ expect }) => {
    expect(extendOutage({ fromMs: 0, toMs: 10_000 }, 40_000)).toEqual({ fromMs: 0, toMs: 40_000 })
    expect(extendOutage({ fromMs: 0, toMs: 10_000 }, 40_001)).toEqual({ fromMs: 40_001, toMs: 40_001 })
  })
})
