import type { ChargedInterval } from '../../../src/domain/billing/bill.ts'
import { idlingOf, listSpending, type Spender } from '../../../src/domain/billing/spending.ts'
import { describe, expect, it } from '../../support/unit.ts'

const HOUR_MS = 3_600_000
const NOW_MS = 1_000 * HOUR_MS

function spender(change: Partial<Spender>): Spender {
  const what = { kind: 'POD' as const, id: 'pod', name: 'pod', workloadId: change.id ?? 'pod' }
  return { ...what, isRunning: true, startedAtMs: NOW_MS - HOUR_MS, nanosPerHour: 1, stoppedNanosPerHour: 0, closedMicros: 0, ...change }
}

function lasting(workloadId: string, startedAtMs: number, gpuNanosPerHour: number): ChargedInterval {
  const nothing = { gpuTypeId: null, gpuCount: 0, vcpus: 0, diskGb: 0, volumeType: null, cpuNanosPerHour: 0, diskNanosPerHour: 0 }
  return { kind: 'POD', resourceId: workloadId, workloadId, startedAtMs, endedAtMs: null, gpuNanosPerHour, ...nothing }
}

describe('a resource that costs money', () => {
  it('[SPD-1] is listed by descending cost, then by id; stopped resources without cost are left out', () => {
    const listed = listSpending(
      [
        spender({ id: 'b', nanosPerHour: 5 }),
        spender({ id: 'a', nanosPerHour: 5 }),
        spender({ id: 'dear', nanosPerHour: 9 }),
        spender({ id: 'free', nanosPerHour: 0 }),
        spender({ id: 'kept', nanosPerHour: 1, isRunning: false, startedAtMs: null }),
        spender({ id: 'off', nanosPerHour: 0, isRunning: false, startedAtMs: null }),
      ],
      [],
      new Map(),
      NOW_MS,
    )
    expect(listed.map(({ id }) => id)).toEqual(['dear', 'a', 'b', 'kept', 'free'])
  })

  it('[SPD-2] sums its runs since the first start, with charges from before a silence', () => {
    const of = { kind: 'ENDPOINT' as const, id: 'ep', name: 'chat' }
    const spenders = [
      spender({ ...of, workloadId: 'w1', nanosPerHour: 7, startedAtMs: NOW_MS - 3 * HOUR_MS, closedMicros: 40 }),
      spender({ ...of, workloadId: 'w2', nanosPerHour: 8, startedAtMs: null }),
    ]
    const intervals = [lasting('w1', NOW_MS - 2 * HOUR_MS, 1_000_000), lasting('other', 0, 1_000_000)]
    expect(listSpending(spenders, intervals, new Map(), NOW_MS)).toEqual([
      {
        ...of,
        nanosPerHour: 15,
        stoppedNanosPerHour: 0,
        runningCount: 2,
        runningSinceMs: NOW_MS - 3 * HOUR_MS,
        soFarMicros: 2_040,
        parts: [
          { workloadId: 'w1', nanosPerHour: 7, soFarMicros: 2_040 },
          { workloadId: 'w2', nanosPerHour: 8, soFarMicros: 0 },
        ],
      },
    ])
  })
})

describe('a resource on a silent host', () => {
  it('[BIL-30] costs nothing after the last sign of life; its other parts are still charged', () => {
    const of = { kind: 'CLUSTER' as const, id: 'ring', name: 'ring', stoppedNanosPerHour: 2 }
    const spenders = [spender({ ...of, workloadId: 'heard', nanosPerHour: 7 }), spender({ ...of, workloadId: 'silent', nanosPerHour: 8 })]
    const intervals = [lasting('heard', NOW_MS - 2 * HOUR_MS, 1_000_000), lasting('silent', NOW_MS - 2 * HOUR_MS, 1_000_000)]
    const silent = new Map([['silent', NOW_MS - HOUR_MS]])
    expect(listSpending(spenders, intervals, silent, NOW_MS)).toMatchObject([
      { nanosPerHour: 7, stoppedNanosPerHour: 2, runningCount: 2, soFarMicros: 3_000, parts: [{ nanosPerHour: 7 }, { nanosPerHour: 0 }] },
    ])
    const before = new Map([['silent', NOW_MS - 3 * HOUR_MS]])
    expect(listSpending(spenders, intervals, before, NOW_MS)).toMatchObject([{ soFarMicros: 2_000 }])
  })
})

describe('an idle resource', () => {
  const part = (workloadId: string, change = {}) => ({ workloadId, nanosPerHour: 440_000_000, soFarMicros: 300_000, ...change })

  it('[SPD-4] has its cost since it is idle, never more than for its run', () => {
    const waste = (minutes: number, sinceMs = 0) =>
      idlingOf({ parts: [part('pod')] }, new Map([['pod', sinceMs]]), minutes * 60_000).wasteMicros
    expect([0, 1, 30, 60].map((minutes) => waste(minutes))).toEqual([0, 7_333, 220_000, 300_000])
    expect(waste(0, 60_000)).toBe(0)
  })

  it('[SPD-7] of an endpoint or a cluster is counted per worker or member; busy or unknown ones are left out', () => {
    const parts = [part('w1'), part('w2', { nanosPerHour: 220_000_000 }), part('busy')]
    const since = new Map([
      ['w1', 30 * 60_000],
      ['w2', 0],
      ['of another', 0],
    ])
    expect(idlingOf({ parts }, since, 60 * 60_000)).toEqual({
      count: 2,
      nanosPerHour: 660_000_000,
      sinceMs: 0,
      wasteMicros: 220_000 + 220_000,
    })
    expect(idlingOf({ parts }, new Map(), 60 * 60_000)).toEqual({ count: 0, nanosPerHour: 0, sinceMs: null, wasteMicros: 0 })
  })
})
