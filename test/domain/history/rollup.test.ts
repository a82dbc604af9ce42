import fc from 'fast-check'
import { type Chunk, chunkStart, emptyChunk, LEVELS, type Level, MAX_TRACKS } from '../../../src/domain/history/chunk.ts'
import { decodeChunk, encodeChunk } from '../../../src/domain/history/chunk-bytes.ts'
import { judgeIdle } from '../../../src/domain/history/idle.ts'
import type { Sample } from '../../../src/domain/history/metrics.ts'
import { noteSamples, rollUp } from '../../../src/domain/history/rollup.ts'
import { joinSeries, MAX_POINTS, RETENTION_MS, type Series, seriesOf, windowOf } from '../../../src/domain/history/series.ts'
import { packNumber, unpackNumber } from '../../../src/domain/history/small-number.ts'
import { describe, expect, it } from '../../support/unit.ts'

const QUARTER_MS = 900_000
const cpu = (track: string, value: number, isIdle: boolean | null = null): Sample => ({
  track,
  readings: [{ metric: 'cpu', gpu: null, value }],
  isIdle,
})
/** Bytes and back, as a restart does. */
const stored = (chunk: Chunk) => decodeChunk(encodeChunk(chunk), chunk.level, chunk.startMs)
/** The allowed error of a stored figure. */
const near = (value: number) => Math.max(0.032, value / 1_000)

/** Keeps chunks as the object of a host does, by their starts, and each of them as bytes. */
class Rings {
  private readonly chunks = new Map<string, Chunk>()
  private open: Chunk | null = null

  take(samples: readonly Sample[], nowMs: number): void {
    const startMs = chunkStart(0, nowMs)
    if (this.open?.startMs !== startMs) {
      if (this.open) this.close(this.open)
      this.open = this.load(0, startMs)
    }
    noteSamples(this.open, null, samples, nowMs)
  }

  series(level: Level): Series[] {
    if (this.open) this.close(this.open)
    const all = [...this.chunks.values()].filter((chunk) => chunk.level === level)
    return seriesOf(all, 'a', { level, fromMs: 0, stepMs: LEVELS[level].stepMs, count: (3 * QUARTER_MS) / LEVELS[level].stepMs })
  }

  private close(minute: Chunk): void {
    this.save(minute)
    const quarter = this.load(1, chunkStart(1, minute.startMs))
    rollUp(minute, quarter)
    this.save(quarter)
    const coarse = this.load(2, chunkStart(2, quarter.startMs))
    rollUp(quarter, coarse)
    this.save(coarse)
  }

  private load(level: Level, startMs: number): Chunk {
    const known = this.chunks.get(`${level}.${startMs}`)
    return known ? stored(known) : emptyChunk(level, startMs)
  }

  private save(chunk: Chunk): void {
    this.chunks.set(`${chunk.level}.${chunk.startMs}`, stored(chunk))
  }
}

const figure = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 1e13, noNaN: true }))
const history = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * QUARTER_MS - 1 }), figure), { minLength: 1, maxLength: 400 })

/** The same from all samples at once: in each step of 5 s the last sample counts; then means of means, and maxima. */
function naive(samples: readonly (readonly [number, number])[], level: Level): { points: (number | null)[]; maxima: (number | null)[] } {
  const slots = new Map(samples.map(([atMs, value]) => [Math.floor(atMs / 5_000), value]))
  let steps = Array.from({ length: (3 * QUARTER_MS) / 5_000 }, (_, index) => ({
    mean: slots.get(index) ?? null,
    most: slots.get(index) ?? null,
  }))
  for (const group of [12, 15].slice(0, level)) {
    steps = Array.from({ length: steps.length / group }, (_, index) => {
      const part = steps.slice(index * group, (index + 1) * group).filter(({ mean }) => mean !== null)
      if (part.length === 0) return { mean: null, most: null }
      const sum = part.reduce((total, { mean }) => total + (mean ?? 0), 0)
      return { mean: sum / part.length, most: Math.max(...part.map(({ most }) => most ?? 0)) }
    })
  }
  return { points: steps.map(({ mean }) => mean), maxima: steps.map(({ most }) => most) }
}

function expectNear(got: readonly (number | null)[] | undefined, wanted: readonly (number | null)[]): void {
  expect(got?.map((value) => value === null)).toEqual(wanted.map((value) => value === null))
  for (const [at, value] of wanted.entries())
    if (value !== null) expect(Math.abs((got?.[at] ?? 0) - value)).toBeLessThanOrEqual(3 * near(value))
}

describe('history', () => {
  it('[HIS-2] minutes and quarter hours equal the result over all samples, after serialization, with any gaps', () => {
    fc.assert(
      fc.property(history, (samples) => {
        const inOrder = samples.toSorted(([a], [b]) => a - b)
        const rings = new Rings()
        for (const [atMs, value] of inOrder) rings.take([cpu('a', value)], atMs)
        for (const level of [1, 2] as const) {
          const wanted = naive(inOrder, level)
          const [got] = rings.series(level)
          expectNear(got?.points, wanted.points)
          expectNear(got?.maxima, wanted.maxima)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('[HIS-2] a clock that goes back, and beats that come twice, leave every other step as it was', () => {
    fc.assert(
      fc.property(history, (samples) => {
        const rings = new Rings()
        for (const [atMs, value] of samples) {
          rings.take([cpu('a', value)], atMs)
          rings.take([cpu('a', value)], atMs)
        }
        const wanted = naive(samples, 1)
        const [got] = rings.series(1)
        expectNear(got?.points, wanted.points)
        expectNear(got?.maxima, wanted.maxima)
      }),
      { numRuns: 60 },
    )
  })

  it('[HIS-3] a figure takes 16 bits and is right to 1/2048, exact where it is small', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 56, noNaN: true }), (value) => {
        const packed = packNumber(value)
        expect(packed).toBeLessThan(65_535)
        expect(Math.abs(unpackNumber(packed) - value)).toBeLessThanOrEqual(Math.max(0.031_251, value / 2_047))
      }),
    )
    expect(unpackNumber(packNumber(151.031_25))).toBe(151)
    for (let percent = 0; percent <= 100; percent++) expect(unpackNumber(packNumber(percent))).toBe(percent)
    expect(unpackNumber(packNumber(Number.NaN))).toBeNaN()
    expect(unpackNumber(packNumber(-1))).toBe(0)
  })

  it('[HIS-3] bytes give back the chunk, and one track of it alone', () => {
    const chunk = emptyChunk(0, 60_000)
    noteSamples(
      chunk,
      null,
      [cpu('', 7), cpu('pod1', 3, true), { ...cpu('w', 1), readings: [{ metric: 'gpu', gpu: 7, value: 99 }] }],
      75_000,
    )
    expect(stored(chunk)).toEqual(chunk)
    expect([...decodeChunk(encodeChunk(chunk), 0, 60_000, 'w').tracks.keys()]).toEqual(['w'])
    expect(decodeChunk(new Uint8Array([9, 0, 1]), 0, 60_000)).toEqual(emptyChunk(0, 60_000))
  })

  it('[HIS-3] short-lived workloads do not push out the history of live ones', () => {
    const chunk = emptyChunk(2, 0)
    const quarter = (index: number, ids: string[]) => {
      const fine = emptyChunk(1, index * QUARTER_MS)
      noteSamples(
        fine,
        null,
        ids.map((id) => cpu(id, 1)),
        fine.startMs,
      )
      rollUp(fine, chunk)
    }
    for (let index = 0; index < 4; index++) quarter(index, ['lives', ...Array.from({ length: 500 }, (_, n) => `short-${index}-${n}`)])
    expect(chunk.tracks.size).toBe(MAX_TRACKS)
    expect([...(chunk.tracks.get('lives')?.columns.get('1.')?.average ?? [])].filter((value) => value === 1)).toHaveLength(4)
    expect(chunk.tracks.has('short-3-499')).toBe(true)
    expect(chunk.tracks.has('short-0-0')).toBe(false)
    expect(encodeChunk(chunk).length).toBeLessThan(2_000_000)
  })

  it('[HIS-8] idle means no work on any GPU, or below 5 % of the CPUs without a GPU; unknown is not idle', () => {
    expect(judgeIdle({ cpu: 90, gpus: [{ util: 0 }, { util: 0 }], gpuCount: 2 })).toBe(true)
    expect(judgeIdle({ cpu: 0, gpus: [{ util: 0 }, { util: 1 }], gpuCount: 2 })).toBe(false)
    expect(judgeIdle({ cpu: 0, gpus: [{ util: 0 }], gpuCount: 2 })).toBeNull()
    expect(judgeIdle({ cpu: 0, gpuCount: 1 })).toBeNull()
    expect([judgeIdle({ cpu: 4 }), judgeIdle({ cpu: 5 }), judgeIdle({})]).toEqual([true, false, null])
  })

  it('[HIS-11] a workload that waits for a CPU a tenth of the time is not idle, with and without GPUs', () => {
    const ofCpu = (cpuWaiting: number) => judgeIdle({ cpu: 1, cpuWaiting })
    expect([ofCpu(0), ofCpu(9), ofCpu(10), ofCpu(100)]).toEqual([true, true, false, false])
    expect(judgeIdle({ cpu: 1, cpuWaiting: 80, gpus: [{ util: 0 }], gpuCount: 1 })).toBe(false)
    expect(judgeIdle({ cpuWaiting: 80 })).toBe(false)
    expect(judgeIdle({ cpuWaiting: 9 })).toBeNull()
  })

  it('[HIS-8] idle is counted from the first idle sample, over minutes, and anew after a gap', () => {
    const minute = emptyChunk(0, 0)
    const sinceOf = (chunk: Chunk) => chunk.tracks.get('a')?.idleSinceMs
    noteSamples(minute, null, [cpu('a', 50, false)], 10_000)
    expect(sinceOf(minute)).toBeNull()
    noteSamples(minute, null, [cpu('a', 0, true)], 50_000)
    noteSamples(minute, null, [cpu('a', 0, true)], 55_000)
    expect(sinceOf(minute)).toBe(50_000)
    const next = emptyChunk(0, 60_000)
    noteSamples(next, stored(minute), [cpu('a', 0, true)], 60_000)
    expect(sinceOf(next)).toBe(50_000)
    const near = emptyChunk(0, 180_000)
    noteSamples(near, next, [cpu('a', 0, true)], 184_000)
    expect(sinceOf(near)).toBe(50_000)
    const later = emptyChunk(0, 240_000)
    noteSamples(later, next, [cpu('a', 0, true)], 241_000)
    expect(sinceOf(later)).toBe(241_000)
    noteSamples(later, next, [cpu('a', 60, false)], 246_000)
    expect(sinceOf(later)).toBeNull()
  })

  it('[HIS-1] [HIS-5] a step picks the ring, and no answer has more than 1 500 points', () => {
    const nowMs = Date.parse('2026-06-01T12:00:00Z')
    const requested = (agoMs: number, stepMs: number | null) => windowOf({ fromMs: nowMs - agoMs, toMs: null, stepMs }, nowMs)
    expect(requested(600_000, null)).toEqual({ fromMs: nowMs - 600_000, stepMs: 5_000, count: 120, level: 0 })
    expect(requested(86_400_000, null)).toEqual({ fromMs: nowMs - 86_400_000, stepMs: 60_000, count: 1_440, level: 1 })
    expect(requested(RETENTION_MS, null)).toMatchObject({ stepMs: 1_800_000, level: 2 })
    expect(requested(3_600_000, 5_000)).toMatchObject({ stepMs: 60_000, level: 1 })
    expect(requested(3_600_000, 7_000)).toMatchObject({ stepMs: 60_000, level: 1 })
    expect(requested(3_600_000, 3_600_000)).toMatchObject({ count: 1, level: 2 })
    expect(requested(2 * RETENTION_MS, null)).toMatchObject({ level: 2 })
    expect(windowOf({ fromMs: nowMs, toMs: nowMs, stepMs: null }, nowMs)).toBeNull()
    fc.assert(
      fc.property(
        fc.nat(3 * RETENTION_MS),
        fc.nat(3 * RETENTION_MS),
        fc.option(fc.integer({ min: 5_000, max: 86_400_000 })),
        (age, span, stepMs) => {
          const fromMs = nowMs - age
          const window = windowOf({ fromMs, toMs: fromMs + span + 1, stepMs }, nowMs)
          if (window === null) throw new Error('refused')
          expect(window.count).toBeLessThanOrEqual(MAX_POINTS)
          expect(window.stepMs % LEVELS[window.level].stepMs).toBe(0)
          expect(window.fromMs % window.stepMs).toBe(0)
        },
      ),
    )
  })

  it('[HIS-6] samples of two hosts form one series, and a gap stays one', () => {
    const one = (points: (number | null)[], gpu: number | null = null): Series => ({ metric: 'gpu', gpu, points, maxima: points })
    expect(joinSeries([[one([1, null, null, 3]), one([9], 1)], [one([null, null, 2, 5])]])).toEqual([
      { metric: 'gpu', gpu: null, points: [1, null, 2, 4], maxima: [1, null, 2, 5] },
      { metric: 'gpu', gpu: 1, points: [9], maxima: [9] },
    ])
  })

  it('[HIS-5] beats come every 4 to 6 s: one step of 5 s between two others is no gap, and two are', () => {
    const chunk = emptyChunk(0, 0)
    for (const at of [0, 10_000, 25_000]) noteSamples(chunk, null, [cpu('a', at / 1_000)], at)
    const [series] = seriesOf([chunk], 'a', { level: 0, fromMs: 0, stepMs: 5_000, count: 7 })
    expect(series?.points).toEqual([0, 10, 10, null, null, 25, null])
  })
})
