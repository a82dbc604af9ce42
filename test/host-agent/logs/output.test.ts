import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'vitest'
import { rotatedPath } from '../../../src/host-agent/builtin/bound-output.ts'
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/host-agent/docker/runtime.ts'
import { DockerOutput } from '../../../src/host-agent/docker/streams/output.ts'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { HOST_LABEL } from '../../../src/host-agent/engine/labels.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { splitLines, withoutReturn } from '../../../src/host-agent/logs/lines.ts'
import { ProcessOutput } from '../../../src/host-agent/process/output.ts'
import type { OutputChunk } from '../../../src/host-agent/runtime.ts'
import { until, waitUntil } from '../../support/time.ts'
import { tempDir } from '../support/temp-dir.ts'

const PROGRAM = join(import.meta.dirname, '../support/noisy-program.ts')

describe('lines', () => {
  test('are only whole ones; the rest waits', ({ expect }) => {
    expect(splitLines(Buffer.from('a\nb\r\nc'))).toEqual({ lines: ['a', 'b'], consumed: 5 })
    expect(splitLines(Buffer.from(''))).toEqual({ lines: [], consumed: 0 })
    expect(splitLines(Buffer.from('\n\n'))).toEqual({ lines: ['', ''], consumed: 2 })
    expect(withoutReturn('a\r\r')).toBe('a\r')
  })

  test('[HOST-12] longer than the bound are split: one below, at the bound, one above', ({ expect }) => {
    expect(splitLines(Buffer.from('1234567\n'), 8)).toEqual({ lines: ['1234567'], consumed: 8 })
    expect(splitLines(Buffer.from('12345678\n'), 8)).toEqual({ lines: ['12345678'], consumed: 9 })
    expect(splitLines(Buffer.from('123456789\n'), 8)).toEqual({ lines: ['12345678', '9'], consumed: 10 })
    expect(splitLines(Buffer.from('12345678'), 8)).toEqual({ lines: [], consumed: 0 })
    expect(splitLines(Buffer.from('123456789'), 8)).toEqual({ lines: ['12345678'], consumed: 8 })
  })

  test('are never split inside a character', ({ expect }) => {
    for (const word of ['1234567é9', '123456€9', '12345😀9', '😀😀😀😀😀']) {
      const { lines } = splitLines(Buffer.from(`${word}\n`), 8)
      expect(lines.join(''), word).toBe(word)
      expect(lines.length, word).toBeGreaterThan(1)
    }
  })
})

describe('a container', () => {
  const stamp = (nanos: number, second = 3) => `2026-06-01T12:02:0${second}.${String(nanos).padStart(9, '0')}Z`
  const frame = (stream: 1 | 2, time: string, line: string) => {
    const payload = Buffer.from(`${time} ${line}`)
    const header = Buffer.alloc(8)
    header[0] = stream
    header.writeUInt32BE(payload.length, 4)
    return Buffer.concat([header, payload])
  }
  const out = (nanos: number, line: string) => frame(1, stamp(nanos), `${line}\n`)
  const err = (nanos: number, line: string) => frame(2, stamp(nanos), `${line}\n`)
  const linesOf = (output: DockerOutput, ...frames: Buffer[]) => output.read(Buffer.concat(frames))?.lines.map(({ line }) => line)

  test('frames come in any pieces and carry the time of the engine', ({ expect }) => {
    const output = new DockerOutput(undefined)
    const bytes = Buffer.concat([out(1, 'a'), err(2, 'é\r')])
    const chunks = [...bytes].flatMap((byte) => output.read(Buffer.from([byte])) ?? [])
    expect(chunks.flatMap(({ lines }) => lines)).toEqual([
      { at: Date.UTC(2026, 5, 1, 12, 2, 3), line: 'a' },
      { at: Date.UTC(2026, 5, 1, 12, 2, 3), line: 'é' },
    ])
    expect(chunks[0]?.position).toEqual({ stdout: { time: stamp(1), count: 1 } })
    expect(output.sinceSeconds).toBe(0)
    expect(() => new DockerOutput(undefined).read(Buffer.from('plain text of a terminal'))).toThrow('did not send frames')
  })

  test('[HOST-12] resumes exactly: equal times are counted, and each stream has its own place', ({ expect }) => {
    const all = [out(1, 'a'), out(2, 'b1'), out(2, 'b2'), err(9, 'E'), out(2, 'b3'), out(4, 'c'), err(9, 'F')]
    const names = ['a', 'b1', 'b2', 'E', 'b3', 'c', 'F']
    for (let cut = 1; cut < all.length; cut += 1) {
      const first = new DockerOutput(undefined)
      const before = first.read(Buffer.concat(all.slice(0, cut)))
      const second = new DockerOutput(JSON.parse(JSON.stringify(before?.position)))
      // The engine begins earlier than requested, by the overlap.
      expect(second.sinceSeconds).toBe(Math.floor(Date.UTC(2026, 5, 1, 12, 2, 3) / 1000) - 10)
      const after = second.read(Buffer.concat(all))
      expect(
        [...(before?.lines ?? []), ...(after?.lines ?? [])].map(({ line }) => line),
        `cut at ${cut}`,
      ).toEqual(names)
      expect(after?.lost).toBe(false)
    }
  })

  test('[HOST-13] reports a loss when the line that was read last is gone from the files of the engine', ({ expect }) => {
    const position = { stdout: { time: stamp(5), count: 1 } }
    expect(new DockerOutput(position).read(out(6, 'later'))?.lost).toBe(true)
    expect(new DockerOutput(position).read(Buffer.concat([out(5, 'last'), out(6, 'later')]))).toMatchObject({
      lost: false,
      lines: [{ line: 'later' }],
    })
    expect(new DockerOutput(position).read(err(1, 'other stream'))?.lost).toBe(false)
  })

  test('[HOST-13] a stream that was quiet for longer than the queried period has lost nothing', ({ expect }) => {
    const quiet = `2026-06-01T11:00:00.${'0'.repeat(9)}Z`
    const position = { stdout: { time: stamp(5), count: 1 }, stderr: { time: quiet, count: 1 } }
    // Its last line is older than the answer, which begins ten seconds before the newest one.
    expect(new DockerOutput(position).read(Buffer.concat([out(5, 'last'), err(6, 'new')]))).toMatchObject({
      lost: false,
      lines: [{ line: 'new' }],
    })
    expect(new DockerOutput(position).read(Buffer.concat([out(6, 'later'), err(6, 'new')]))?.lost).toBe(true)
  })

  test('[HOST-12] an answer that ends before the container does is requested again, until one begins after the end', async ({ expect }) => {
    const answers = [[out(1, 'a')], [out(1, 'a'), out(2, 'b')], [out(1, 'a'), out(2, 'b'), out(3, 'last')]]
    const states = ['running', 'exited']
    const asked: number[] = []
    const engine = {
      followLogs: async (_name: string, since: number) => {
        asked.push(since)
        return Readable.from(answers[asked.length - 1] ?? [])
      },
      inspect: async () => ({ labels: { [HOST_LABEL]: 'h' }, status: states.shift() ?? 'exited' }),
    } as unknown as DockerEngine
    const options = {
      engine,
      hostId: 'h',
      stateDir: tempDir('output'),
      images: { allowed: new Map() },
      log: silentLog(),
    } as unknown as DockerRuntimeOptions
    const lines: string[] = []
    const take = (chunk: OutputChunk) => void lines.push(...chunk.lines.map(({ line }) => line))
    await new DockerRuntime(options).followOutput('w', undefined, take, new AbortController().signal)
    expect(lines).toEqual(['a', 'b', 'last'])
    expect(asked[0]).toBe(0)
    expect(asked).toHaveLength(3)
  })

  test('the pieces of one long line have one time', ({ expect }) => {
    const output = new DockerOutput(undefined)
    expect(linesOf(output, frame(1, stamp(7), 'x'.repeat(16_384)), frame(1, stamp(7), 'y\n'))).toEqual(['x'.repeat(16_384), 'y'])
    const half = new DockerOutput({ stdout: { time: stamp(7), count: 1 } })
    expect(linesOf(half, frame(1, stamp(7), 'x'.repeat(16_384)), frame(1, stamp(7), 'y\n'))).toEqual(['y'])
  })
})

describe('a built-in program', () => {
  const now = () => 5
  async function readAll(output: ProcessOutput, isOver = false): Promise<{ lines: string[]; position: unknown; lost: boolean }> {
    const lines: string[] = []
    let position: unknown
    let lost = false
    for (;;) {
      const chunk = await output.read(isOver)
      if (chunk === undefined) return { lines, position, lost }
      lines.push(...chunk.lines.map(({ line }) => line))
      position = chunk.position
      lost ||= chunk.lost
    }
  }

  test('[HOST-12] is read from any place on, through rotations, to the last line without an end', async ({ expect }) => {
    const dir = tempDir('output')
    const path = join(dir, 'output.log')
    const first = new ProcessOutput(dir, undefined, now)
    expect(await first.read(false)).toBeUndefined()
    writeFileSync(path, 'a\nb')
    const { lines, position } = await readAll(first)
    expect(lines).toEqual(['a'])
    appendFileSync(path, '!\n')
    // Rotated twice without a read in between.
    writeFileSync(rotatedPath(path, 0), 'a\nb!\nc\n')
    writeFileSync(path, 'd\ne')
    const second = await readAll(new ProcessOutput(dir, JSON.parse(JSON.stringify(position)), now), true)
    expect(second).toMatchObject({ lines: ['b!', 'c', 'd', 'e'], lost: false })
    expect((await readAll(new ProcessOutput(dir, second.position, now), true)).lines).toEqual([])
  })

  test('[HOST-13] reports the loss by two rotations', async ({ expect }) => {
    const dir = tempDir('output')
    writeFileSync(rotatedPath(join(dir, 'output.log'), 1), 'later\n')
    writeFileSync(join(dir, 'output.log'), 'now\n')
    const read = await readAll(new ProcessOutput(dir, { generation: 0, offset: 2 }, now))
    expect(read).toMatchObject({ lines: ['later', 'now'], lost: true })
  })

  test('[HOST-13] a program keeps its own output small, and a reader beside it misses nothing', async ({ expect }) => {
    const dir = tempDir('output')
    const path = join(dir, 'output.log')
    const file = openSync(path, 'a')
    const program = spawn(process.execPath, [PROGRAM, path, '1000', '200'], { stdio: ['pipe', file, 'inherit'] })
    closeSync(file)
    const output = new ProcessOutput(dir, undefined, now)
    const lines: string[] = []
    const rotated = () => readdirSync(dir).filter((name) => /\.\d+\.log$/.test(name))
    try {
      for (let burst = 1; burst <= 5; burst += 1) {
        program.stdin?.write('x')
        await until(async () => {
          lines.push(...((await output.read(false))?.lines.map(({ line }) => line) ?? []))
          return lines.length >= burst * 200
        })
        // Each burst is larger than the bound, so it is rotated away before the next.
        await waitUntil('the rotation', () => rotated().includes(`output.${burst - 1}.log`) && statSync(path).size === 0)
      }
      expect(lines).toEqual(Array.from({ length: 1_000 }, (_, n) => `line ${n + 1}`))
      await waitUntil('one kept file', () => rotated().length === 1)
    } finally {
      program.kill('SIGKILL')
    }
  })

  test('output larger than one read comes whole', async ({ expect }) => {
    const dir = tempDir('output')
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`)
    writeFileSync(join(dir, 'output.log'), `${lines.join('\n')}\n`)
    expect((await readAll(new ProcessOutput(dir, undefined, now))).lines).toEqual(lines)
  })
})
