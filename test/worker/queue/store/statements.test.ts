import type { EndpointCore } from '../../../../durable-objects/endpoint/core.ts'
import type { Bulk } from '../../../../durable-objects/endpoint/store/jobs/bulk-store.ts'
import { JobStore } from '../../../../durable-objects/endpoint/store/jobs/job-store.ts'
import { SHORT_TEXT_UNITS } from '../../../../durable-objects/endpoint/store/jobs/payload-store.ts'
import { MetaStore } from '../../../../durable-objects/endpoint/store/meta-store.ts'
import { ENDPOINT_SCHEMA } from '../../../../durable-objects/endpoint/store/schema.ts'
import type { SqlState } from '../../../../durable-objects/endpoint/store/sql-state.ts'
import { Undo } from '../../../../durable-objects/endpoint/store/undo.ts'
import { WorkerStore } from '../../../../durable-objects/endpoint/store/workers/worker-store.ts'
import { applySchema } from '../../../../durable-objects/sql-migrations.ts'
import { JOB_STATES, type JobState } from '../../../../src/contract/enums.ts'
import { submitJob } from '../../../../src/domain/job/job.ts'
import { EVERY_JOB } from '../../../../src/domain/job/job-filter.ts'
import { addChunk, leaseJob } from '../../../../src/domain/job/lease.ts'
import { INPUT, OUTPUT } from '../../../../src/queue/state.ts'
import { planOf, type RanStatement, recordStatements } from '../../../support/cost/statements.ts'
import { describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import { inside, run, runAndTake, setUpQueue, undone } from '../../../support/queue/queue.ts'
import { STATE_CASES } from '../../../support/queue/queue-state.ts'
import { workerIn } from '../../../support/queue/workers.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

/** Every file with statements of an endpoint object's database. */
const SOURCES = import.meta.glob<string>(
  ['../../../../durable-objects/endpoint/store/**/*.ts', '../../../../durable-objects/{audit-outbox,piece-store}.ts'],
  { query: '?raw', import: 'default', eager: true },
)
const STATEMENT = /(['`])((?:SELECT|UPDATE|DELETE)\b(?:(?!\1)[\s\S])*)\1/g
/** Matches the comment in a statement that states why it may sort or scan. */
const REASON = /\/\* plan: .+ \*\//
/** Permitted scans of the head of the queue or of the leases, which read only the requested rows. */
const LIVE_JOBS = /^SCAN jobs USING (COVERING )?INDEX jobs_(queue|running)$/

describe('statements of an endpoint object', () => {
  it('[DEV-10] each of them searches: none scans a table or sorts, except with a stated reason', async () => {
    const ran = await everyStatement()
    const written = Object.entries(SOURCES).flatMap(([file, text]) =>
      [...text.matchAll(STATEMENT)].map(([, , sql = '']) => ({ file, sql })),
    )
    expect(written.length).toBeGreaterThan(50)
    const texts = [...ran.keys()]
    expect(
      written.filter(({ sql }) => !texts.some((text) => patternOf(sql).test(text))),
      'statements that were not tried',
    ).toEqual([])
    const bad = [...ran].flatMap(([text, plan]) => {
      const steps = plan.filter((step) => /^SCAN (?!CONSTANT)|TEMP B-TREE/.test(step) && !LIVE_JOBS.test(step))
      return steps.length > 0 && !REASON.test(text) ? [{ text, steps }] : []
    })
    expect(bad).toEqual([])
  })
})

describe('an endpoint object of an earlier release', () => {
  it('[JOB-22] keeps its jobs, and drops the index that made a take read the whole queue', async () => {
    await runInDurableObject(endpointStub(env, 'of-an-earlier-release'), async ({ core }, { storage }) => {
      const before = ENDPOINT_SCHEMA.findIndex((step) => step.includes('DROP INDEX jobs_state'))
      applySchema(storage, ENDPOINT_SCHEMA.slice(0, before))
      for (const [seq, state] of [0, 1, 2, 3, 0].entries())
        storage.sql.exec(
          `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at,
             worker_id, boot, started_at, lease_until, finished_at)
           VALUES (?, ?, ?, 0, ?, 1, 9e15, 9e15, 9e15, 9e15, 'w', 'b', 1, 1, 1)`,
          ...[seq, `job-${seq}`, state, seq === 4 ? 9 : seq],
        )
      await core.transact(() => undefined)
      const { jobs, lists } = core.state
      expect(lists.page(JOB_STATES, EVERY_JOB, 9).map(({ id }) => id)).toEqual(['job-4', 'job-3', 'job-2', 'job-1', 'job-0'])
      expect([jobs.queueHead(9).map(({ seq }) => seq), jobs.queuedNormal, jobs.nextSequence()]).toEqual([[0, 4], 2, 10])
      const indexes = storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'jobs%' ORDER BY name").toArray()
      expect(indexes.map(({ name }) => name)).toEqual(['jobs_ended', 'jobs_failed', 'jobs_queue', 'jobs_retried', 'jobs_running'])
    })
  })

  it('[JOB-22] has other indexes for its lists and deadlines, which statements of the previous release can use', async () => {
    await runInDurableObject(endpointStub(env, 'with-indexes-of-an-earlier-release'), async ({ core }, { storage }) => {
      const { sql } = storage
      const before = ENDPOINT_SCHEMA.findIndex((step) => step.includes('CREATE INDEX jobs_failed'))
      applySchema(storage, ENDPOINT_SCHEMA.slice(0, before))
      for (const [seq, state] of [2, 3, 4, 2, 5, 2, 3].entries())
        sql.exec(
          `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at, finished_at)
           VALUES (?, ?, ?, 0, ?, 1, 9e15, 9e15, 9e15, ?, 1)`,
          ...[seq, `job-${seq}`, state, seq, 9e15 - seq],
        )
      await core.transact(() => undefined)
      const found = (states: readonly JobState[]) => core.state.lists.page(states, EVERY_JOB, 9).map(({ seq }) => seq)
      expect([found(['FAILED']), found(['CANCELLED', 'TIMED_OUT'])]).toEqual([
        [6, 1],
        [4, 2],
      ])
      expect(core.state.lists.countByState(JOB_STATES, { fromSeq: 1, beforeSeq: 6 })).toEqual({
        COMPLETED: 2,
        FAILED: 1,
        CANCELLED: 1,
        TIMED_OUT: 1,
      })
      // As the previous release wrote them.
      const ended = (state: number) => `jobs INDEXED BY jobs_ended WHERE state > 1 AND state = ${state} AND seq >= ? AND seq < ?`
      const page = sql.exec(`SELECT seq FROM ${ended(2)} ORDER BY seq DESC LIMIT ?`, 0, 9, 2).toArray()
      expect(page.map(({ seq }) => seq)).toEqual([5, 3])
      expect(sql.exec(`SELECT COUNT(*) AS n FROM ${ended(3)}`, 0, 9).one()).toEqual({ n: 2 })
    })
  })

  it('[JOB-23] keeps the texts of its jobs, and its own statements find those of this release', async () => {
    await runInDurableObject(endpointStub(env, 'with-texts-of-an-earlier-release'), async ({ core }, { storage }) => {
      const { sql } = storage
      const before = ENDPOINT_SCHEMA.findIndex((step) => step.includes('RENAME TO pieces'))
      applySchema(storage, ENDPOINT_SCHEMA.slice(0, before))
      const job = (seq: number) =>
        sql.exec(
          `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at)
           VALUES (?, ?, 0, 0, ?, 1, 9e15, 9e15, 9e15, 9e15)`,
          ...[seq, `job-${seq}`, seq],
        )
      const insert = (of: number, kind: number, text: string) =>
        sql.exec('INSERT INTO payloads (job, kind, part, data) VALUES (?, ?, 0, ?)', of, kind, text)
      const select = (of: number, kind: number) =>
        sql.exec('SELECT data FROM payloads WHERE job = ? AND kind = ? ORDER BY part', of, kind).toArray()
      job(1)
      insert(1, INPUT, '"old"')
      await core.transact(() => undefined)
      const { jobs, payloads } = core.state
      expect(payloads.get(1, INPUT)).toBe('"old"')
      // Simulates the previous release: it queues a job, takes a job of this release, and ends both.
      const texts = ['"new"', `"${'x'.repeat(SHORT_TEXT_UNITS)}"`]
      for (const [index, text] of texts.entries()) {
        const queued = submitJob({ ...TIMES, seq: 3 + index, id: `new-${index}`, lowPriority: false, webhook: null, hasS3Config: false })
        jobs.insert(queued, text)
        payloads.setOutput(queued.seq, text)
        expect([select(queued.seq, INPUT), select(queued.seq, OUTPUT)]).toEqual([[{ data: text }], [{ data: text }]])
        sql.exec('DELETE FROM payloads WHERE job = ? AND kind = ?', queued.seq, OUTPUT)
        expect([payloads.get(queued.seq, INPUT), payloads.get(queued.seq, OUTPUT)]).toEqual([text, undefined])
        sql.exec('DELETE FROM payloads WHERE job = ?', queued.seq)
        insert(queued.seq, OUTPUT, '"over"')
        expect([payloads.get(queued.seq, INPUT), payloads.get(queued.seq, OUTPUT)]).toEqual([undefined, '"over"'])
      }
      job(9)
      insert(9, INPUT, '"between"')
      expect(payloads.get(9, INPUT)).toBe('"between"')
    })
  })
})

/** A pattern for a statement as it stands in a source; interpolated parts match anything. */
function patternOf(sql: string): RegExp {
  const parts = sql.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&'))
  return new RegExp(parts.join('[\\s\\S]*'))
}

/** The plan of each statement that runs while calls are served and while every method of the stores is used. */
async function everyStatement(): Promise<Map<string, string[]>> {
  const plans = new Map<string, string[]>()
  const keep = (sql: SqlStorage, ran: readonly RanStatement[]) => {
    for (const statement of ran.filter(({ text }) => /^\s*(SELECT|UPDATE|DELETE)\b/.test(text)))
      if (!plans.has(statement.text)) plans.set(statement.text, planOf(sql, statement))
  }
  const queue = await setUpQueue()
  await inside(queue, async ({ core }) => {
    // The first transaction creates the tables.
    await core.transact(() => undefined)
  })
  const recording = await inside(queue, ({ core }) => recordStatements(core.ctx.storage.sql))
  await runAndTake(queue)
  await run(queue)
  expect((await queue.post('/purge-queue')).status).toBe(200)
  await until(() => inside(queue, ({ core }) => core.audit.size === 0))
  await inside(queue, ({ core }) => keep(core.ctx.storage.sql, recording.stop()))
  await runInDurableObject(endpointStub(env, `${queue.endpointId}-of-its-own`), async ({ core }) => {
    await core.transact(() => undefined)
    const { sql } = core.ctx.storage
    for (const scene of [
      ...STATE_CASES.map(
        ({ check }) =>
          () =>
            check(core.state),
      ),
      () => useStores(core.state, core),
    ]) {
      const own = recordStatements(sql)
      undone(core, scene)
      keep(sql, own.stop())
    }
  })
  return plans
}

const TIMES = { createdAtMs: 1, ttlAtMs: 2, executionTimeoutMs: 3, retentionMs: 4 }
const NO_BULK: Bulk = {
  ...{ id: 'b', action: 'cancel', matched: 0, byStatus: {}, sample: [], refused: [], left: [], estimatedCostUsd: null },
  ...{ want: { states: [], fromMs: null, toMs: null, fromSeq: 0, beforeSeq: 0, seqs: null }, looked: 0, changed: 0, skipped: 0 },
  ...{ position: 0, createdAtMs: 1, finishedAtMs: 2 },
}

/** Uses the methods of the stores that the calls do not reach: lists, histories, hand-overs. */
function useStores(state: SqlState, core: EndpointCore): void {
  const { sql } = core.ctx.storage
  const loaded = [new JobStore(sql, new Undo()), new WorkerStore(sql, state.timeline, new Undo())]
  const seal = { vault: core.vault, place: core.ctx.id.toString() }
  expect([...loaded, new MetaStore(sql, seal, new Undo())]).toHaveLength(3)
  const job = submitJob({ seq: 1, id: 'a', lowPriority: false, webhook: null, hasS3Config: false, ...TIMES })
  state.begin(1)
  state.jobs.insert(job)
  for (const states of [null, JOB_STATES]) state.lists.page(states, EVERY_JOB, 1)
  state.lists.seqsAfter(JOB_STATES, EVERY_JOB, 1)
  state.lists.countByState(JOB_STATES, EVERY_JOB)
  state.lists.firstSince(0)
  state.lists.completed(1, 9, 1)
  state.jobs.ahead(job)
  const held = leaseJob(job, { workerId: 'w', boot: 'b' }, 1, { pingIntervalMs: 1 })
  state.jobs.save(job, held)
  state.jobs.save(held, addChunk(held, 1, { pingIntervalMs: 1 }))
  for (const input of ['1', `"${'x'.repeat(SHORT_TEXT_UNITS)}"`]) {
    const one = { ...job, seq: job.seq + input.length, id: `of ${input.length}` }
    state.jobs.insert(one, input)
    expect(state.payloads.getShort(one.seq, INPUT, 1)).toBe(input === '1' ? '1' : null)
    expect(state.payloads.beginning(one.seq, INPUT, 1)).toEqual({ text: input.slice(0, 1), bytes: input.length })
    expect(state.payloads.size(one.seq, INPUT)).toBe(input.length)
  }
  state.payloads.appendChunk(1, 1, '1')
  state.payloads.drainChunks(1)
  state.attempts.add(1, { attempt: 1, workerId: 'w', startedAtMs: 1, endedAtMs: 2, outcome: 'LOST', reason: null, requeuedAtMs: 3 })
  state.attempts.of(1, 9)
  state.attempts.clear(1)
  state.workers.save(workerIn('READY', 'w'))
  state.workers.save(workerIn('READY', 'w', { lastTakeAtMs: 120_000, idleSinceMs: 100_000 }))
  state.workers.end()
  state.workers.lives.of(['w'])
  state.workers.lives.hostOf('w')
  state.workers.lives.newest(9)
  state.workers.remove('w')
  state.workers.recall('w')
  state.timeline.samples(0, 9)
  state.timeline.changes(0, 9, 9)
  state.meta.add('completed')
  state.series.end(1, state.meta.totals())
  state.series.samples()
  state.decisions.newest(1)
  state.bulks.get('b')
  state.bulks.save({ ...NO_BULK, finishedAtMs: null })
  state.bulks.running()
  state.bulks.save(NO_BULK)
  state.outbox.add(job, 'https://example.com/', ['text'])
  const rows = state.outbox.first(9)
  for (const row of rows) void state.outbox.body(row)
  state.outbox.remove(rows)
  state.end(1)
}
