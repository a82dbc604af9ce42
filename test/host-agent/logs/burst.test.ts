import fc from 'fast-check'
import { describe, test } from 'vitest'
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/host-agent/docker/runtime.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { LogShipper } from '../../../src/host-agent/logs/shipper.ts'
import { SEGMENT_BYTES } from '../../../src/host-agent/logs/spool.ts'
import type { LogBatch, LogLine, LogsResponse } from '../../../src/host-protocol/logs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'
import { type AnswerFault, RotatingEngine, type Written } from './rotating-engine.ts'

const SECOND = Date.UTC(2026, 5, 1, 12, 2, 3)
const workload = makeWorkload({ id: 'w', kind: 'worker', log: { kind: 'worker', ownerId: 'ep', grant: 'g' } })

/** Lines of a burst: all in one second, some in the same nanosecond. */
function burst(count: number, streamOf: (n: number) => 1 | 2 = () => 1, width = 0): Written[] {
  const line = (n: number) => `line ${n} `.padEnd(width, '.')
  return Array.from({ length: count }, (_, n) => ({ stream: streamOf(n), time: stamp(SECOND, Math.floor(n / 3)), line: line(n) }))
}

function stamp(atMs: number, nanos: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, `.${String(nanos).padStart(9, '0')}Z`)
}

/** A plane that takes each number once and loses some of its answers, so that batches are repeated. */
class ForgetfulPlane {
  readonly lines: LogLine[] = []
  private readonly losesAnswers: boolean[]

  constructor(losesAnswers: readonly boolean[]) {
    this.losesAnswers = [...losesAnswers]
  }

  send = async (batches: LogBatch[]): Promise<LogsResponse | undefined> => {
    for (const { lines } of batches) this.lines.push(...lines.filter(({ seq }) => seq > this.takenSeq))
    return this.losesAnswers.shift() ? undefined : { results: [{ workloadId: 'w', takenSeq: this.takenSeq }] }
  }

  private get takenSeq(): number {
    return this.lines.at(-1)?.seq ?? 0
  }
}

/** Reads the whole output of a container through the agent, and returns what the plane has of it. */
async function ship(engine: RotatingEngine, losesAnswers: readonly boolean[] = [], workloadBytes = 2 ** 22): Promise<LogLine[]> {
  const plane = new ForgetfulPlane(losesAnswers)
  const bounds = { workloadBytes, totalBytes: 2 ** 22 }
  const shipper = new LogShipper({ dir: tempDir('burst'), send: plane.send, log: silentLog(), now: Date.now, bounds, retryBaseMs: 0 })
  const options = {
    engine: engine.engine,
    hostId: 'h',
    stateDir: tempDir('burst-docker'),
    images: { allowed: new Map() },
    log: silentLog(),
  }
  shipper.open(workload)
  shipper.follow(new DockerRuntime(options as unknown as DockerRuntimeOptions), 'w')
  shipper.start()
  await shipper.finish('w', 'exited with code 0')
  await shipper.close(10_000)
  return plane.lines
}

const outputOf = (lines: readonly LogLine[]) => lines.filter(({ source }) => source === 'container').map(({ line }) => line)
const noticesOf = (lines: readonly LogLine[]) => lines.filter(({ source }) => source === 'system').map(({ line }) => line)

describe('a burst of output', () => {
  test('[HOST-12] is stored once when the engine sends its newest file again', async ({ expect }) => {
    const all = burst(1_000)
    const lines = await ship(new RotatingEngine(all, 600, [{ writes: 1_000, repeats: true }]))
    expect(outputOf(lines)).toEqual(all.map(({ line }) => line))
    expect(noticesOf(lines)).toEqual(['exited with code 0'])
  })

  test('[HOST-12] loses no line when the clock of the machine was set back by an hour', async ({ expect }) => {
    const all = [...burst(9), ...burst(9).map(({ line, time }) => ({ stream: 1 as const, line: `${line} again`, time: hourBefore(time) }))]
    const writes = all.length
    // The last one is read only once the container has ended.
    for (const faults of [[{ writes }], [{ writes, repeats: true }], [{ writes, cutAt: 0 }]]) {
      const lines = await ship(new RotatingEngine(all, 100, faults))
      expect(outputOf(lines), JSON.stringify(faults)).toEqual(all.map(({ line }) => line))
    }
  })

  test('[HOST-11, HOST-12, HOST-13] stores no line twice, whatever is repeated, cut or dropped on its way', async ({ expect }) => {
    const fault: fc.Arbitrary<AnswerFault> = fc.record(
      { writes: fc.integer({ min: 0, max: 300 }), cutAt: fc.double({ min: 0, max: 1, noNaN: true }), repeats: fc.boolean() },
      { requiredKeys: ['writes'] },
    )
    const play = fc.record({
      count: fc.integer({ min: 1, max: 400 }),
      width: fc.constantFrom(0, 3_000),
      streams: fc.array(fc.constantFrom(1 as const, 2 as const), { minLength: 1, maxLength: 7 }),
      fileLines: fc.integer({ min: 20, max: 300 }),
      faults: fc.array(fault, { maxLength: 6 }),
      losesAnswers: fc.array(fc.boolean(), { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(play, async ({ count, width, streams, fileLines, faults, losesAnswers }) => {
        const all = burst(count, (n) => streams[n % streams.length] ?? 1, width)
        const lines = await ship(new RotatingEngine(all, fileLines, faults), losesAnswers, 2 * SEGMENT_BYTES)
        const output = outputOf(lines)
        expect(new Set(output).size, 'each line once').toBe(output.length)
        expect(lines.at(-1)?.line).toBe('exited with code 0')
        // With more lines, the engine deletes its oldest file before the agent can read it.
        if (count > 2 * fileLines) return
        const dropped = noticesOf(lines).map((text) => Number(/^(\d+) lines dropped/.exec(text)?.[1] ?? 0))
        expect(output.length + dropped.reduce((sum, one) => sum + one, 0), 'each line is there or counted').toBeGreaterThanOrEqual(count)
      }),
      { numRuns: 30 },
    )
  })
})

function hourBefore(time: string): string {
  const nanos = Number(/\.(\d{9})Z$/.exec(time)?.[1])
  return stamp(SECOND - 3_600_000, nanos)
}
