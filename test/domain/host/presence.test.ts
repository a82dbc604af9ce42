import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkDueAtMs,
  judgePresence,
  type PresenceFacts,
  planeWasAway,
  requeueNotBeforeMs,
  SUSPECT_AFTER_MS,
} from '../../../src/domain/host/presence.ts'
import { hostPatienceMs, SILENCE_MIN_MS, silenceWaitMs } from '../../../src/host-protocol/silence.ts'

const HEARD = 1_000_000
const facts = (change: Partial<PresenceFacts> = {}): PresenceFacts => ({
  stage: 'LIVE',
  heardAtMs: HEARD,
  linkClosedAtMs: null,
  offlineAtMs: null,
  lostAfterMs: 300_000,
  ...change,
})
const stageAfter = (ms: number, change: Partial<PresenceFacts> = {}) => judgePresence(facts(change), HEARD + ms)

describe('presence of a host', () => {
  test.each([
    [0, 'LIVE', 15_000],
    [14_999, 'LIVE', 15_000],
    [15_000, 'SUSPECT', 30_000],
    [29_999, 'SUSPECT', 30_000],
  ])('[HOST-33] after %i ms without a beat it is %s, and is checked again at %i ms', (ms, stage, nextMs) => {
    expect(stageAfter(ms)).toEqual({ stage, nextAtMs: HEARD + nextMs })
  })

  test('[HOST-2] its lease ends at 30 s', () => {
    expect(stageAfter(30_000)).toEqual({ stage: 'OFFLINE', nextAtMs: HEARD + 330_000 })
  })

  test('[HOST-2] a link that was seen to close has 10 s to come back, within the lease', () => {
    const closed = (ms: number, at: number) => stageAfter(ms, { linkClosedAtMs: HEARD + at }).stage
    expect([closed(13_999, 4_000), closed(14_000, 4_000)]).toEqual(['LIVE', 'OFFLINE'])
    expect([closed(29_999, 25_000), closed(30_000, 25_000)]).toEqual(['SUSPECT', 'OFFLINE'])
    expect(stageAfter(5_000, { linkClosedAtMs: HEARD + 4_000 }).nextAtMs).toBe(HEARD + 14_000)
  })

  test('[HOST-35] after a restart the check of a live host with a link was due later than stored, and that of any other host as stored', () => {
    const due = (change: Partial<PresenceFacts>, storedMs: number | null = HEARD + 14_000) => checkDueAtMs(facts(change), storedMs)
    expect([due({}), due({}, HEARD + 20_000), due({}, null)]).toEqual([HEARD + 15_000, HEARD + 20_000, null])
    expect([due({ linkClosedAtMs: HEARD + 4_000 }), due({ stage: 'SUSPECT' })]).toEqual([HEARD + 14_000, HEARD + 14_000])
  })

  test('[HOST-37] a host that stays offline is lost after the time that is set, and stays lost', () => {
    const offline = { stage: 'OFFLINE' as const, offlineAtMs: HEARD + 30_000 }
    expect(stageAfter(329_999, offline)).toEqual({ stage: 'OFFLINE', nextAtMs: HEARD + 330_000 })
    expect(stageAfter(330_000, offline)).toEqual({ stage: 'LOST', nextAtMs: null })
    expect(stageAfter(0, { ...offline, stage: 'LOST' })).toEqual({ stage: 'LOST', nextAtMs: null })
    expect(stageAfter(40_000, { ...offline, lostAfterMs: 10_000 }).stage).toBe('LOST')
  })

  test('only a new link brings an offline host back', () => {
    expect(judgePresence(facts({ stage: 'OFFLINE', offlineAtMs: HEARD }), HEARD + 1).stage).toBe('OFFLINE')
  })

  test.each([
    { ranMs: null, waitMs: 35_000 },
    { ranMs: -1_000, waitMs: 35_000 },
    { ranMs: 35_000, waitMs: 35_000 },
    { ranMs: 35_001, waitMs: 35_001 },
    { ranMs: 3_600_000, waitMs: 600_000 },
  ])('[HOST-36] a job that had run for $ranMs ms waits $waitMs ms for its silent host', ({ ranMs, waitMs }) => {
    expect(requeueNotBeforeMs(HEARD, ranMs === null ? null : HEARD - ranMs, 600_000)).toBe(HEARD + waitMs)
  })

  test('[HOST-36] the host gives up 10 s before the plane, whatever the age of the job', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(2_000_000), (ranMs, maxMs) => {
        expect(silenceWaitMs(ranMs, maxMs) - hostPatienceMs(ranMs, maxMs)).toBe(10_000)
        // The host gets the job later and counts its silence from earlier, so for the host the job is younger.
        expect(hostPatienceMs(ranMs, maxMs)).toBeLessThan(silenceWaitMs(ranMs + 1, maxMs))
      }),
    )
  })

  test('[HOST-36] the lost time is at most twice that of the better choice, once a job had run for the shortest wait', () => {
    fc.assert(
      fc.property(fc.integer({ min: SILENCE_MIN_MS, max: 600_000 }), fc.nat(2_000_000), (ranMs, silentMs) => {
        const waitMs = silenceWaitMs(ranMs, 600_000)
        // Lost: the idle time, and the time of work that is repeated.
        const lostMs = silentMs <= waitMs ? silentMs : waitMs + ranMs
        expect(lostMs).toBeLessThanOrEqual(2 * Math.min(silentMs, ranMs))
      }),
    )
  })

  test('[HOST-35] an alarm more than a lease late shows that the plane was away', () => {
    expect([30_000, 30_001].map((late) => planeWasAway(HEARD, HEARD + late))).toEqual([false, true])
  })

  test('three beats make a host suspect', () => expect(SUSPECT_AFTER_MS).toBe(15_000))
})
