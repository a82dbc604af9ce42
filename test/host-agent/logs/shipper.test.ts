import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { LogShipper, type LogShipperOptions } from '../../../src/host-agent/logs/shipper.ts'
import { SEGMENT_BYTES } from '../../../src/host-agent/logs/spool.ts'
import { redactOutput, secretsOf } from '../../../src/host-agent/redact.ts'
import type { OutputChunk, Runtime } from '../../../src/host-agent/runtime.ts'
import type { LogBatch, LogLine, LogsResponse } from '../../../src/host-protocol/logs.ts'
import { realTime, until, waitUntil } from '../../support/time.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

const access = { kind: 'worker' as const, ownerId: 'ep', grant: 'g' }
const workload = (id: string, platformEnv: Record<string, string> = {}) => makeWorkload({ id, kind: 'worker', log: access, platformEnv })

/** A plane that takes each number once; it can be away, and it can lose its answers. */
class FakeLogs {
  readonly taken = new Map<string, LogLine[]>()
  readonly requests: LogBatch[][] = []
  away = false
  losesAnswers = 0
  refused = new Set<string>()

  send = async (batches: LogBatch[]): Promise<LogsResponse | undefined> => {
    this.requests.push(batches)
    if (this.away) return undefined
    const results = batches.map(({ workloadId, lines }) => {
      if (this.refused.has(workloadId)) return { workloadId, refused: 'not yours' }
      const log = this.taken.get(workloadId) ?? []
      this.taken.set(workloadId, log)
      log.push(...lines.filter(({ seq }) => seq > (log.at(-1)?.seq ?? 0)))
      return { workloadId, takenSeq: log.at(-1)?.seq ?? 0 }
    })
    if (this.losesAnswers > 0) {
      this.losesAnswers -= 1
      return undefined
    }
    return { results }
  }

  lines(id: string): string[] {
    return (this.taken.get(id) ?? []).map(({ line }) => line)
  }
}

/** A program whose output is a list; the position is how much of it was read. */
class FakeOutput {
  readonly lines: string[] = []
  ended = false
  failures = 0

  runtime = {
    followOutput: async (_id: string, position: unknown, take: (chunk: OutputChunk) => void, signal: AbortSignal) => {
      let read = typeof position === 'number' ? position : 0
      while (!signal.aborted) {
        if (this.failures > 0) {
          this.failures -= 1
          throw new Error('the engine is away')
        }
        const lines = this.lines.slice(read, read + 3).map((line) => ({ at: 1_000, line }))
        read += lines.length
        if (lines.length > 0) take({ lines, position: read, lost: false })
        else if (this.ended) return
        else await until(() => signal.aborted || this.ended || this.failures > 0 || this.lines.length > read, 1)
      }
    },
  } as unknown as Runtime
}

function open(dir: string, plane: FakeLogs, change: Partial<LogShipperOptions> = {}): LogShipper {
  return new LogShipper({ dir, send: plane.send, log: silentLog(), now: Date.now, retryBaseMs: 1, ...change })
}

describe('shipping', () => {
  test('[HOST-12] sends all lines together a second after the first one', async ({ expect }) => {
    let nowMs = 10_000
    const plane = new FakeLogs()
    const shipper = open(tempDir('logs'), plane, { now: () => nowMs })
    shipper.open(workload('w'))
    shipper.note('w', 'a')
    nowMs = 10_999
    shipper.start()
    shipper.note('w', 'b')
    await new Promise((resolve) => setImmediate(resolve))
    expect(plane.requests).toEqual([])
    nowMs = 11_000
    shipper.note('w', 'c')
    await waitUntil('the batch', () => plane.lines('w').length === 3)
    expect(plane.requests).toHaveLength(1)
    expect(plane.requests[0]?.[0]?.lines[0]).toEqual({ seq: 1, at: 10_000, source: 'system', line: 'a' })
    await shipper.close(0)
  })

  test('[HOST-12] sends a full batch at once', async ({ expect }) => {
    const plane = new FakeLogs()
    const shipper = open(tempDir('logs'), plane, { now: () => 0 })
    shipper.open(workload('w'))
    shipper.start()
    for (let n = 0; n < 128; n += 1) shipper.note('w', String(n))
    await waitUntil('the batch', () => plane.lines('w').length === 128)
    expect(plane.requests).toHaveLength(1)
    await shipper.close(0)
  })

  test('[HOST-11] lost answers and a plane that is away lose nothing and double nothing', async ({ expect }) => {
    const plane = new FakeLogs()
    const shipper = open(tempDir('logs'), plane)
    const output = new FakeOutput()
    const expected = Array.from({ length: 500 }, (_, n) => String(n))
    output.lines.push(...expected)
    output.failures = 1
    plane.losesAnswers = 3
    shipper.open(workload('w'))
    shipper.follow(output.runtime, 'w')
    shipper.start()
    await waitUntil('half of it', () => plane.lines('w').length >= 128)
    plane.away = true
    const asked = plane.requests.length
    await waitUntil('a request that the plane does not answer', () => plane.requests.length > asked)
    plane.away = false
    output.ended = true
    await shipper.finish('w', 'exited with code 0')
    await shipper.close(5_000)
    expect(plane.lines('w')).toEqual([...expected, 'exited with code 0'])
  })

  test('[HOST-13] a log whose lines cannot be read from disk holds up no other', async () => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    const shipper = open(dir, plane)
    for (const id of ['bad', 'good']) {
      shipper.open(workload(id))
      shipper.note(id, 'a')
    }
    rmSync(join(dir, 'bad'), { recursive: true })
    shipper.start()
    await waitUntil('the other log', () => plane.lines('good').length === 1)
    await shipper.close(0)
  })

  test('[HOST-12] the next process continues where the last one was killed, in the output and in the numbers', async ({ expect }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    const output = new FakeOutput()
    plane.away = true
    for (let life = 0; life < 4; life += 1) {
      output.lines.push(...Array.from({ length: 10 }, (_, n) => `${life}.${n}`))
      const shipper = open(dir, plane)
      if (life === 0) shipper.open(workload('w'))
      shipper.start()
      shipper.follow(output.runtime, 'w')
      // The memory of the previous agent is not reused.
      await realTime(3 + life, 'it is killed in the middle of whatever it does by then')
      if (life === 1) plane.away = false
      await shipper.close(0)
    }
    const last = open(dir, plane)
    last.start()
    last.follow(output.runtime, 'w')
    output.ended = true
    await last.finish('w', 'gone')
    await last.close(5_000)
    expect(plane.lines('w')).toEqual([...output.lines, 'gone'])
    expect(plane.taken.get('w')?.map(({ seq }) => seq)).toEqual(Array.from({ length: 41 }, (_, n) => n + 1))
    expect(existsSync(join(dir, 'w')), 'a log that has ended and was delivered leaves the disk').toBe(false)
  })

  test('[LOG-5] the end is reported once, by either source, and nothing follows it', async ({ expect }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    plane.away = true
    const first = open(dir, plane)
    first.open(workload('w'))
    await first.finish('w', 'exited with code 1')
    await first.finish('w', 'removed from this host')
    await first.close(0)
    const second = open(dir, plane)
    await second.finish('w', 'exited with code 1')
    second.note('w', 'late')
    plane.away = false
    second.start()
    await second.close(5_000)
    expect(plane.lines('w')).toEqual(['exited with code 1'])
  })

  test('[HOST-13] the disk is bounded for one workload and for all, and dropped lines are reported', async ({ expect }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    plane.away = true
    const bounds = { workloadBytes: 2 * SEGMENT_BYTES, totalBytes: 5 * SEGMENT_BYTES }
    const shipper = open(dir, plane, { bounds })
    const output = new FakeOutput()
    output.lines.push(...Array.from({ length: 300 }, (_, n) => String(n).padEnd(16_000, '.')))
    output.ended = true
    for (const id of ['a', 'b', 'c']) {
      shipper.open(workload(id))
      shipper.follow(output.runtime, id)
    }
    await Promise.all(['a', 'b', 'c'].map((id) => shipper.finish(id, 'end')))
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(({ name }) => name.endsWith('.jsonl'))
    // A segment may be a chunk larger than its bound.
    expect(files.length).toBeLessThanOrEqual(6)
    plane.away = false
    shipper.start()
    await shipper.close(5_000)
    for (const id of ['a', 'b', 'c']) {
      const [first, ...rest] = plane.lines(id)
      const dropped = Number(/^(\d+) lines dropped/.exec(first ?? '')?.[1])
      expect(dropped + rest.length).toBe(301)
      expect(rest[0]).toBe(output.lines[dropped])
      expect(rest.at(-1)).toBe('end')
    }
    expect(readdirSync(dir)).toEqual([])
  })

  test('[HOST-11, LOG-18] containers of a pod that follow one another are each numbered from 1, under the one log of the pod', async ({
    expect,
  }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    plane.away = true
    const podAccess = { kind: 'pod' as const, ownerId: 'p', grant: 'g' }
    const outputs = ['p-1', 'p-2'].map((id) => {
      const output = new FakeOutput()
      output.lines.push(`${id} a`, `${id} b`)
      return output
    })
    // The previous container ends while the plane is away; its output is delivered although the next one already writes.
    const first = open(dir, plane)
    for (const [index, output] of outputs.entries()) {
      first.open(makeWorkload({ id: `p-${index + 1}`, log: podAccess }))
      first.follow(output.runtime, `p-${index + 1}`)
      output.ended = index === 0
    }
    await first.finish('p-1', 'stopped')
    await first.close(0)
    plane.away = false
    const second = open(dir, plane)
    second.start()
    second.follow((outputs[1] as FakeOutput).runtime, 'p-2')
    ;(outputs[1] as FakeOutput).ended = true
    await second.finish('p-2', 'exited with code 0')
    await second.close(5_000)
    expect(plane.taken.get('p-1')?.map(({ seq, line }) => [seq, line])).toEqual([
      [1, 'p-1 a'],
      [2, 'p-1 b'],
      [3, 'stopped'],
    ])
    expect(plane.taken.get('p-2')?.map(({ seq, line }) => [seq, line])).toEqual([
      [1, 'p-2 a'],
      [2, 'p-2 b'],
      [3, 'exited with code 0'],
    ])
    expect(plane.requests.flat().every((batch) => batch.access.kind === 'pod' && batch.access.ownerId === 'p')).toBe(true)
  })

  test('[HOST-13] logs of ended containers that were dropped as a whole while the plane was away are reported', async ({ expect }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    plane.away = true
    const bounds = { workloadBytes: SEGMENT_BYTES, totalBytes: 3 * 16_000 }
    const shipper = open(dir, plane, { bounds })
    const ids = Array.from({ length: 6 }, (_, n) => `p-${n + 1}`)
    for (const id of ids) {
      shipper.open(workload(id))
      shipper.note(id, 'x'.repeat(15_000))
      await shipper.finish(id, 'stopped')
    }
    plane.away = false
    shipper.start()
    await shipper.close(5_000)
    const dropped = '2 lines dropped: the workload wrote more than this host could buffer for the plane'
    expect(ids.map((id) => plane.lines(id).at(-1))).toEqual([dropped, dropped, dropped, 'stopped', 'stopped', 'stopped'])
    expect(readdirSync(dir)).toEqual([])
  })

  test('a log that the plane refuses is dropped and does not hold up the others; one without access is not shipped', async ({ expect }) => {
    const dir = tempDir('logs')
    const plane = new FakeLogs()
    plane.refused.add('bad')
    const shipper = open(dir, plane)
    shipper.open(workload('bad'))
    shipper.open(workload('good'))
    shipper.open(makeWorkload({ id: 'silent' }))
    for (const id of ['bad', 'good', 'silent']) shipper.note(id, 'x')
    shipper.start()
    await shipper.close(5_000)
    expect(plane.lines('good')).toEqual(['x'])
    expect(readdirSync(dir)).toEqual(['good'])
  })

  test('[HOST-14] keys of the platform are redacted; similar text is not', async ({ expect }) => {
    const plane = new FakeLogs()
    const shipper = open(tempDir('logs'), plane)
    const key = `ppw_${'k'.repeat(43)}`
    const output = new FakeOutput()
    output.lines.push(`Authorization: ${key}`, 'relay opensesame!', 'pp_rank=3 tp_size=2')
    output.ended = true
    shipper.open(workload('w', { RUNPOD_AI_API_KEY: key, RUNPOD_RELAY_KEY: 'opensesame!', RUNPOD_POD_ID: 'w' }))
    // As the plane lists it from the time on at which it is to stop (HOST-68).
    shipper.update({ ...workload('w'), desired: 'stopped' })
    shipper.follow(output.runtime, 'w')
    await shipper.finish('w', `killed: Bearer ${key}`)
    shipper.start()
    await shipper.close(5_000)
    expect(plane.lines('w')).toEqual(['Authorization: [redacted]', 'relay [redacted]', 'pp_rank=3 tp_size=2', 'killed: [redacted]'])
    // Also without knowing the workload, as after a restart.
    expect(redactOutput(`${key} ppo_${'a'.repeat(49)}`, [])).toBe('[redacted] [redacted]')
    expect(secretsOf(workload('w', { A_KEY: 'short', RUNPOD_POD_ID: 'long-enough' }))).toEqual([])
  })
})
