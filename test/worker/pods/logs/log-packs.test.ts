import fc from 'fast-check'
import { POD_LOG_SCHEMA } from '../../../../durable-objects/pod-log/log-schema.ts'
import { LogStore } from '../../../../durable-objects/pod-log/log-store.ts'
import { applySchema } from '../../../../durable-objects/sql-migrations.ts'
import { PACK_BYTES } from '../../../../src/domain/logs/line-pack.ts'
import { LOG_RETAINED_BYTES, LOG_RETAINED_LINES, type StoredLine } from '../../../../src/domain/text/log-stream.ts'
import { SECRETS_WRITER } from '../../../../src/effects/pods/pod-notes.ts'
import { LOG_LINE_MAX_CHARS, type LogLine } from '../../../../src/host-protocol/logs.ts'
import { recordStatements } from '../../../support/cost/statements.ts'
import { api, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { hostedPod, logOf } from '../../../support/pods/pods.ts'
import { PREVIOUS_SCHEMA, PreviousLog } from '../../../support/pods/previous-log.ts'
import { podLogStub } from '../../../support/runner/stubs.ts'

/** The limits of a log times this are few lines, so that histories reach them. */
const FACTOR = 0.01
const KEPT = { lines: LOG_RETAINED_LINES * FACTOR, bytes: LOG_RETAINED_BYTES * FACTOR }
const WRITERS = ['first', 'second', SECRETS_WRITER] as const
const SOURCES = [undefined, 'container', 'system'] as const
const bytesOf = (text: string) => new TextEncoder().encode(text).byteLength

type ModelLine = StoredLine & { endByte: number }

/** A log as an array of lines. */
class ModelLog {
  newest = { n: 0, endByte: 0 }
  lines: ModelLine[] = []
  readonly taken = new Map<string, { seq: number; atMs: number }>()

  append(lines: readonly LogLine[], workloadId: string, nowMs: number): void {
    for (const { at, source, line } of lines) {
      this.newest = { n: this.newest.n + 1, endByte: this.newest.endByte + bytesOf(line) }
      this.lines.push({ ...this.newest, atMs: at, source, line: line.toWellFormed() })
    }
    const { n, endByte } = this.newest
    this.lines = this.lines.filter((line) => n - line.n < KEPT.lines && endByte - line.endByte < KEPT.bytes)
    this.taken.set(workloadId, { seq: lines.at(-1)?.seq ?? 0, atMs: nowMs })
  }

  drop(lastN: number): void {
    this.lines = this.lines.filter(({ n }) => n > lastN)
  }

  get stored(): StoredLine[] {
    return this.lines.map(({ n, atMs, source, line }) => ({ n, atMs, source, line }))
  }

  get dropped(): number {
    return (this.lines[0]?.n ?? 1) - 1
  }

  get lastWriter(): string | undefined {
    const own = [...this.taken].toSorted(([, a], [, b]) => b.atMs - a.atMs).map(([id]) => id)
    return own.find((id) => id !== SECRETS_WRITER) ?? own[0]
  }
}

const anyText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('\0\u0001\n"\\', 'a\ud800b', '', '🦔') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '"', 'ä', '\u0001'), fc.integer({ min: 2_000, max: LOG_LINE_MAX_CHARS }))
      .map(([c, n]) => c.repeat(n)),
  },
)
const anyLine = fc.record({ at: fc.integer({ min: 0, max: 50 }), source: fc.constantFrom('container', 'system'), line: anyText })
const anyBatch = fc.record({
  kind: fc.constant('append' as const),
  writer: fc.constantFrom(...WRITERS),
  lines: fc.array(anyLine, { minLength: 1, maxLength: 40, size: 'max' }),
  isPrevious: fc.constant(false),
})
const anyStep = (isMixed: boolean) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: anyBatch.chain((batch) => fc.boolean().map((isPrevious) => ({ ...batch, isPrevious: isPrevious && isMixed }))),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('load' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  )
type Step = typeof anyStep extends (isMixed: boolean) => fc.Arbitrary<infer One> ? One : never

/** Everything that a reader of the store can ask, beside what the model says. */
function expectEqual(store: LogStore, model: ModelLog, probes: readonly number[]): void {
  const { stored, dropped, newest, lines } = model
  expect([store.newest(), store.dropped().n]).toEqual([newest, dropped])
  expect(store.oldest(30)).toEqual(lines.slice(0, 30).map(({ n, endByte }) => ({ n, endByte })))
  for (const probe of probes) {
    const n = Math.floor(probe * (newest.n + 3))
    const at = Math.floor(probe * 53)
    const limit = 1 + Math.floor(probe * 20)
    for (const source of SOURCES) {
      const meant = stored.filter((line) => source === undefined || line.source === source)
      expect(store.after(n, source, limit)).toEqual(meant.filter((line) => line.n > n).slice(0, limit))
      expect(store.cursorOfTail(limit, source)).toBe(meant.at(-1 - limit)?.n ?? dropped)
    }
    const earlier = stored.filter((line) => line.n < n).reverse()
    expect(store.before(n, limit)).toEqual(earlier.slice(0, limit))
    expect(store.upTo(n)).toEqual(stored.filter((line) => line.n <= n))
    const since = stored.find(({ atMs }) => atMs >= at)
    expect(store.cursorBefore(at)).toBe(since ? since.n - 1 : newest.n)
    expect(store.lastBefore(at)).toBe(stored.findLast(({ atMs }) => atMs < at)?.n ?? null)
  }
  for (const writer of WRITERS) expect(store.takenSeq(writer)).toBe(model.taken.get(writer)?.seq ?? 0)
  expect(store.lastTaken()?.workloadId).toBe(model.lastWriter)
}

/** Checks that the release before packs reads the same lines through the views. */
function expectPreviousEqual(previous: PreviousLog, model: ModelLog): void {
  expect(previous.lines()).toEqual(
    model.lines.map(({ n, atMs, source, line, endByte }) => ({ n, at: atMs, source, line, end_byte: endByte })),
  )
  for (const writer of WRITERS) expect(previous.takenSeq(writer)).toBe(model.taken.get(writer)?.seq ?? 0)
}

/** One log and its model, over a history. */
class Both {
  readonly model = new ModelLog()
  readonly previous: PreviousLog
  private readonly storage: DurableObjectStorage
  private store: LogStore | null = null
  private seq = 0

  constructor(storage: DurableObjectStorage) {
    this.storage = storage
    this.previous = new PreviousLog(storage)
  }

  get log(): LogStore {
    this.store ??= new LogStore(this.storage)
    this.store.makeTables()
    return this.store
  }

  do(step: Step): void {
    if (step.kind === 'load') this.store = null
    if (step.kind === 'drop') this.drop(Math.floor(step.share * this.model.newest.n))
    if (step.kind === 'append') this.append(step)
  }

  append({ writer, lines, isPrevious }: Pick<Extract<Step, { kind: 'append' }>, 'writer' | 'lines' | 'isPrevious'>): void {
    // SQLite of that release stored a lone surrogate as three characters.
    const numbered = lines.map(({ line, ...rest }) => ({ ...rest, line: isPrevious ? line.toWellFormed() : line, seq: ++this.seq }))
    const atMs = this.seq
    this.model.append(numbered, writer, atMs)
    if (isPrevious) this.previous.append(numbered, writer, atMs, FACTOR)
    else this.log.append(numbered, { workloadId: writer, seq: this.seq, atMs }, FACTOR)
  }

  private drop(lastN: number): void {
    if (lastN >= this.model.newest.n) return
    this.model.drop(lastN)
    this.log.drop(lastN)
  }
}

/** Runs `use` with the empty storage of an object that has no other user. */
const withStorage = (use: (storage: DurableObjectStorage) => Promise<void>) =>
  runInDurableObject(podLogStub(env, 'pod', 'packs'), async (_, { storage }) => {
    await storage.deleteAll()
    await use(storage)
    await storage.deleteAll()
  })
const probes = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 })

describe('lines in packs', () => {
  it('[LOG-36] read like an array of lines, whatever is appended, dropped and loaded in between', { timeout: 240_000 }, async () => {
    await withStorage((storage) =>
      fc.assert(
        fc.asyncProperty(fc.array(anyStep(false), { minLength: 1, maxLength: 12 }), probes, async (steps, asked) => {
          await storage.deleteAll()
          const both = new Both(storage)
          for (const step of steps) {
            both.do(step)
            expectEqual(both.log, both.model, asked)
          }
          const rows = storage.sql
            .exec('SELECT bytes, length(CAST(lines AS BLOB)) AS size, last_n > first_n AS several FROM packs')
            .toArray()
          for (const { bytes, size, several } of rows) {
            expect(size).toBe(bytes)
            if (several) expect(size).toBeLessThanOrEqual(PACK_BYTES)
          }
        }),
        { numRuns: 60 },
      ),
    )
  })

  it('[LOG-36] of a batch write one row, and one more when another workload wrote before', async () => {
    await withStorage(async (storage) => {
      const store = new LogStore(storage)
      store.makeTables()
      let seq = 0
      const rowsOf = (workloadId: string, count: number) => {
        const lines = Array.from({ length: count }, () => ({ seq: ++seq, at: 1, source: 'container' as const, line: 'x'.repeat(100) }))
        const ran = recordStatements(storage.sql)
        store.append(lines, { workloadId, seq, atMs: seq }, 1)
        return ran.stop().reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0)
      }
      const packs = () => Number(storage.sql.exec('SELECT COUNT(*) AS count FROM packs').one().count)
      expect([rowsOf('first', 100), rowsOf('first', 100), rowsOf('second', 100), packs()]).toEqual([1, 1, 2, 3])
      // A few lines at a time share the row of those before them.
      expect([rowsOf('second', 1), rowsOf('second', 10), packs()]).toEqual([1, 1, 3])
      while (store.dropped().n === 0) rowsOf('second', 100)
      // At the limit of the tail, as many rows go as come.
      const rows = Array.from({ length: 50 }, () => rowsOf('second', 100)).reduce((sum, one) => sum + one, 0)
      expect(rows).toBeLessThanOrEqual(2 * 50)
    })
  })
})

describe('a log of the release before packs', () => {
  const history = fc.array(anyStep(false), { minLength: 1, maxLength: 6 })

  it('[LOG-36] keeps every line and number, and that release reads and writes on through its own statements', {
    timeout: 240_000,
  }, async () => {
    await withStorage((storage) =>
      fc.assert(
        fc.asyncProperty(history, fc.array(anyStep(true), { maxLength: 8 }), probes, async (before, after, asked) => {
          await storage.deleteAll()
          const both = new Both(storage)
          both.previous.start()
          for (const step of before) if (step.kind === 'append') both.append({ ...step, isPrevious: true })
          expectPreviousEqual(both.previous, both.model)
          expectEqual(both.log, both.model, asked)
          for (const step of after) {
            both.do(step)
            expectEqual(both.log, both.model, asked)
            expectPreviousEqual(both.previous, both.model)
          }
        }),
        { numRuns: 60 },
      ),
    )
  })

  it('[LOG-36] loses nothing when its migration ends at any statement', async () => {
    const step = POD_LOG_SCHEMA[PREVIOUS_SCHEMA.length] ?? ''
    // A statement ends with a line; those of a trigger end inside it.
    const statements = step.split(/(?<=;)\n {3}(?=CREATE|INSERT|DROP|ALTER)/)
    expect(statements.length).toBeGreaterThan(8)
    await withStorage(async (storage) => {
      const both = new Both(storage)
      both.previous.start()
      for (let batch = 0; batch < 3; batch += 1)
        both.append({
          writer: 'first',
          lines: Array.from({ length: 30 }, (_, n) => ({ at: n, source: 'container', line: `line ${n}` })),
          isPrevious: true,
        })
      for (let count = 1; count <= statements.length; count += 1) {
        const killed = new Error('killed')
        expect(() =>
          applySchema(storage, [...PREVIOUS_SCHEMA, `${statements.slice(0, count).join('\n')}; SELECT * FROM nowhere;`]),
        ).toThrow('nowhere')
        expectPreviousEqual(both.previous, both.model)
        // The step is done, and its record is not.
        const { exec } = storage.sql
        Object.defineProperty(storage.sql, 'exec', {
          configurable: true,
          value: (text: string, ...values: unknown[]) => {
            if (text.includes('INTO _migrations')) throw killed
            return exec.call(storage.sql, text, ...values)
          },
        })
        expect(() => applySchema(storage, POD_LOG_SCHEMA)).toThrow(killed)
        Reflect.deleteProperty(storage.sql, 'exec')
        expectPreviousEqual(both.previous, both.model)
      }
      expectEqual(both.log, both.model, [0, 0.3, 1])
      // A second load changes nothing.
      expectEqual(new LogStore(storage), both.model, [0, 0.3, 1])
    })
  })

  it('[LOG-36, LOG-30] is paged across the upgrade without a gap or a repeat, and takes no line twice', async () => {
    const pod = await hostedPod()
    const log = logOf(pod.id)
    const writer = { kind: 'pod' as const, ownerId: pod.id, workloadId: `${pod.id}-1` }
    const lines = Array.from({ length: 300 }, (_, n) => ({
      seq: n + 1,
      at: 1_000 * n,
      source: 'container' as const,
      line: `line ${n + 1}`,
    }))
    await log.append(writer, lines.slice(0, 1))
    await runInDurableObject(log, async (_, { storage }) => {
      await storage.deleteAll()
      const previous = new PreviousLog(storage)
      previous.start()
      storage.sql.exec("INSERT INTO meta (key, value) VALUES ('owner', ?)", JSON.stringify({ kind: 'pod', ownerId: pod.id }))
      previous.append(lines.slice(0, 250), writer.workloadId, Date.now(), 1)
    })
    await evictDurableObject(log)
    // A repeat of the last batch, with new lines.
    expect(await log.append(writer, lines.slice(200))).toBe(300)
    expect(await log.append(writer, lines.slice(200))).toBe(300)
    const page = async (cursor: string) => {
      const { body } = await api(pod.account.key).get(`/v2/pods/${pod.id}/logs/lines?limit=100&cursor=${encodeURIComponent(cursor)}`)
      return (body.lines as { n: number; line: string }[]).map(({ n, line }) => [n, line])
    }
    const expected = (from: number, to: number) => lines.slice(from - 1, to).map(({ seq, line }) => [seq, line])
    expect([await page('>120'), await page('<121'), await page('>220')]).toEqual([
      expected(121, 220),
      expected(21, 120),
      expected(221, 300),
    ])
    pod.host.leave()
  })
})
