import { ENDPOINT_SCHEMA } from '../../../../durable-objects/endpoint/store/schema.ts'
import { applySchema } from '../../../../durable-objects/sql-migrations.ts'
import { cancelJob, peekJob } from '../../../../src/queue/jobs.ts'
import { takePing } from '../../../../src/queue/pings.ts'
import { recordStatements } from '../../../support/cost/statements.ts'
import { describe, env, evictDurableObject, expect, it, runDurableObjectAlarm, runInDurableObject, vi } from '../../../support/harness.ts'
import { inside, type QueueSetup, runAndTake, settled, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const P = 10_000
const TERM = 4 * P
/** Far enough ahead of the real clock that no alarm fires by itself. */
const AHEAD_MS = 400 * 24 * 3_600_000

/** A worker with a job that it has confirmed once; the clock stands still until it is set. */
async function busy() {
  const queue = await setUpQueue()
  let nowMs = Date.now() + AHEAD_MS
  await setClock(queue, nowMs)
  const { jobId, worker } = await runAndTake(queue)
  await worker.ping([jobId])
  await settled(queue)
  return {
    ...{ queue, jobId, worker },
    now: () => nowMs,
    async pass(ms: number) {
      // In steps, each with its alarm: a late alarm counts as an outage of the plane (LSE-34).
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs = Math.min(endMs, nowMs + P)
        await setClock(queue, nowMs)
        await runDurableObjectAlarm(endpointStub(env, queue.endpointId))
      }
    },
    /** Evicts the object and loads it again with a request. */
    async load() {
      await evictDurableObject(endpointStub(env, queue.endpointId))
      await setClock(queue, nowMs)
      await check(queue)
    },
  }
}

const setClock = (queue: QueueSetup, nowMs: number) =>
  inside(queue, ({ core }) => {
    core.now = () => nowMs
  })
const check = (queue: QueueSetup) => inside(queue, ({ core }) => core.transact(() => undefined))
const jobOf = (queue: QueueSetup, jobId: string) => inside(queue, ({ core }) => peekJob(core.state, jobId))
const rowOf = (queue: QueueSetup) =>
  inside(queue, ({ core }) => core.ctx.storage.sql.exec('SELECT lease_until FROM jobs').one().lease_until)

describe('leases that are renewed in memory', () => {
  it('[LSE-24] pings of a worker with a job write no row; an object that is loaded gives the lease one term, which a ping renews', async () => {
    const { queue, jobId, worker, now, pass, load } = await busy()
    const firstMs = await rowOf(queue)
    const recording = await inside(queue, ({ core }) => recordStatements(core.ctx.storage.sql))
    for (let ping = 0; ping < 3; ping++) {
      await pass(P)
      await worker.ping([jobId])
    }
    const written = (await inside(queue, () => recording.stop())).filter(({ cursor }) => cursor.rowsWritten > 0).map(({ text }) => text)
    // Only the alarm's own row is written, because the alarm fires here more often than in production.
    expect(written.filter((text) => !/\bmeta\b/.test(text))).toEqual([])
    expect(await rowOf(queue)).toBe(firstMs)
    expect(await jobOf(queue, jobId)).toMatchObject({ leaseUntilMs: now() + TERM })
    await pass(TERM - 1)
    const listed = (await queue.get('/requests?status=IN_PROGRESS')).body.requests
    expect(listed, 'lists know the lease too').toMatchObject([{ id: jobId, status: 'IN_PROGRESS' }])
    await load()
    expect(await jobOf(queue, jobId)).toMatchObject({ state: 'IN_PROGRESS', leaseUntilMs: now() + TERM })
    await pass(TERM - 1)
    await worker.ping([jobId])
    await pass(TERM - 1)
    await load()
    await pass(TERM - 1)
    await load()
    expect((await jobOf(queue, jobId))?.state, 'it has not pinged since').toBe('IN_PROGRESS')
    await pass(1)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'IN_QUEUE', retries: 1 })
  })

  it('[LSE-24] survive a rollback, and nothing else of the rolled-back work does', async () => {
    const { queue, jobId, worker, now, pass } = await busy()
    await pass(P)
    const before = await jobOf(queue, jobId)
    await inside(queue, async ({ core }) => {
      const boot = core.state.workers.get(worker.id)?.boot ?? ''
      const ping = () =>
        core.transact((tx) => takePing(tx, { workerId: worker.id, boot }, { listed: new Set([jobId]), sdkVersion: null, unhealthy: null }))
      const known = () => [peekJob(core.state, jobId), core.state.jobs.heldBy(worker.id), core.state.workers.get(worker.id)]
      const failing = core.transact((tx) => {
        const job = peekJob(tx.state, jobId)
        if (job) cancelJob(tx, job)
        throw new Error('undone alone')
      })
      const renewed = { ...before, leaseUntilMs: now() + TERM }
      await Promise.all([ping(), expect(failing).rejects.toThrow('undone alone')])
      expect(known()).toMatchObject([renewed, [renewed], { phase: 'READY', lastSeenAtMs: now(), idleSinceMs: null }])

      const nowMs = now() + P
      core.now = () => nowMs
      vi.spyOn(core.state, 'end').mockImplementationOnce(() => {
        throw new Error('undone together')
      })
      await expect(ping()).rejects.toThrow('undone together')
      expect(known()).toMatchObject([renewed, [renewed], { phase: 'READY', lastSeenAtMs: now() }])
    })
  })

  it('[LSE-24] an object of an earlier release, whose rows were due with their leases, keeps its running jobs', async () => {
    await runInDurableObject(endpointStub(env, 'with-leases-in-rows'), async ({ core }, { storage }) => {
      const before = ENDPOINT_SCHEMA.findIndex((step) => step.includes('loaded_at'))
      applySchema(storage, ENDPOINT_SCHEMA.slice(0, before))
      const nowMs = Date.now() + AHEAD_MS
      core.now = () => nowMs
      for (const [seq, acked] of [0, 1].entries())
        storage.sql.exec(
          `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at, worker_id, boot,
             started_at, acked, lease_until, lease_end_reason, attempt)
           VALUES (?, ?, 1, 0, ?, 1, 9e15, 600000, 9e15, ?, 'w', 'b', ?, ?, ?, ?, 1)`,
          ...[seq, `job-${seq}`, seq, nowMs + 5, nowMs, acked, nowMs + 5],
          acked === 1 ? 'the worker stopped sending pings' : 'the worker never confirmed the job',
        )
      await core.transact(() => undefined)
      const { jobs } = core.state
      expect(jobs.running().map(({ leaseUntilMs }) => leaseUntilMs)).toEqual([nowMs + 5, nowMs + TERM])
      expect([jobs.due(nowMs + 5, 9), jobs.nextDueAtMs()]).toEqual([[0], nowMs + 5])
      // [JOB-49] many ended jobs are removed at one instant, and no lease waits for them.
      storage.sql.exec(
        `INSERT INTO jobs (seq, id, state, low, order_key, created_at, ttl_at, execution_timeout_ms, retention_ms, due_at)
         VALUES (7, 'ended', 2, 0, 7, 1, 9e15, 600000, 1, ?)`,
        nowMs,
      )
      expect(jobs.due(nowMs + 5, 1)).toEqual([0])
      storage.sql.exec('DELETE FROM jobs WHERE seq = 7')
      expect(storage.sql.exec('SELECT DISTINCT due_at FROM jobs').one().due_at).toBe(9e15)
    })
  })
})
