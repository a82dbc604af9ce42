import { expect } from 'vitest'
import { finishJob, type QueuedJob, type RunningJob, retryJob, submitJob } from '../../../src/domain/job/job.ts'
import { endLease, leaseJob } from '../../../src/domain/job/lease.ts'
import { INPUT, OUTPUT, type PayloadKind, type QueueState, S3_CONFIG } from '../../../src/queue/state.ts'
import { workerIn } from './workers.ts'

/** Requirements for every state of a queue, whatever stores it. Each case starts with an empty state. */
export interface StateCase {
  title: string
  check: (state: QueueState) => void
}

const TIMES = { pingIntervalMs: 10_000 }
const KINDS: readonly PayloadKind[] = [INPUT, OUTPUT, S3_CONFIG]

export const STATE_CASES: readonly StateCase[] = [
  {
    title: '[SCALE-4] hands out the queue by priority, then by place',
    check: (state) => {
      for (const [seq, lowPriority] of [true, false, true, false].entries()) state.jobs.insert(job(seq + 1, { lowPriority }))
      expect(state.jobs.queueHead(3).map(({ seq }) => seq)).toEqual([2, 4, 1])
      expect([state.jobs.queuedNormal, state.jobs.queuedLow]).toEqual([2, 2])
      expect(new Set(state.jobs.queued(9).map(({ seq }) => seq))).toEqual(new Set([1, 2, 3, 4]))
    },
  },
  {
    title: 'keeps every member of a job over each transition',
    check: (state) => {
      const first = job(1, { webhook: 'https://example.com/', hasS3Config: true })
      const held = leaseJob(first, { workerId: 'w', boot: 'b' }, 5, TIMES)
      const over = { ...finishJob(held, 'FAILED', 9, 'error', 'detail'), chunks: 3, delivery: 'd', unconfirmed: 2, hostLosses: 4 }
      state.jobs.insert(first)
      expect(state.jobs.bySeq(1)).toEqual(first)
      state.jobs.save(first, held)
      expect(state.jobs.bySeq(1)).toEqual(held)
      state.jobs.save(held, over)
      expect(state.jobs.bySeq(1)).toEqual(over)
      state.jobs.remove(over)
      expect(state.jobs.bySeq(1)).toBeNull()
    },
  },
  {
    title: 'counts leases by worker, low priority ones apart',
    check: (state) => {
      lease(state, job(1), 'a')
      lease(state, job(2), 'a')
      lease(state, job(3, { lowPriority: true }), 'b')
      expect(state.jobs.heldCounts()).toEqual(
        new Map([
          ['a', 2],
          ['b', 1],
        ]),
      )
      expect(state.jobs.heldNormalCounts()).toEqual(new Map([['a', 2]]))
      expect(state.jobs.heldBy('a').map(({ seq }) => seq)).toEqual([1, 2])
      expect(state.jobs.running()).toHaveLength(3)
      const ended = lease(state, job(4), 'b')
      state.jobs.save(ended, finishJob(ended, 'COMPLETED', 9))
      expect(state.jobs.heldCounts().get('b')).toBe(1)
    },
  },
  {
    title: 'counts the queue as jobs come and go',
    check: (state) => {
      const held = lease(state, job(1), 'a')
      state.jobs.insert(job(2))
      expect(state.jobs.queuedNormal).toBe(1)
      state.jobs.save(held, endLease(held, 'lost', 1, 'retry'))
      expect(state.jobs.queuedNormal).toBe(2)
      state.jobs.remove(job(2))
      expect(state.jobs.queuedNormal).toBe(1)
    },
  },
  {
    title: 'gives a sequence number once, above every job and place that it has seen',
    check: (state) => {
      state.jobs.insert(job(state.jobs.nextSequence()))
      expect([state.jobs.nextSequence(), state.jobs.nextSequence()]).toEqual([2, 3])
    },
  },
  {
    title: '[SCALE-2] tells since when the first normal jobs wait',
    check: (state) => {
      state.jobs.insert(job(1, { createdAtMs: 30 }))
      state.jobs.insert(job(2, { createdAtMs: 10 }))
      state.jobs.insert(job(3, { createdAtMs: 20, lowPriority: true }))
      expect(state.jobs.waitingSinceMs(2)).toEqual([30, 10])
      expect([state.jobs.waitingSinceMs(1), state.jobs.waitingSinceMs(0)]).toEqual([[30], []])
    },
  },
  {
    title: 'finds what is due, earliest first, and what will be due next',
    check: (state) => {
      expect(state.jobs.nextDueAtMs()).toBeNull()
      for (const [index, ttlAtMs] of [500, 100, 300].entries()) state.jobs.insert(job(index + 1, { ttlAtMs }))
      expect(state.jobs.due(300, 9)).toEqual([2, 3])
      expect([state.jobs.due(99, 9), state.jobs.due(600, 1)]).toEqual([[], [2]])
      expect(state.jobs.nextDueAtMs()).toBe(100)
    },
  },
  {
    title: 'keeps a worker of each phase as it is, in the order in which they were made',
    check: (state) => {
      const workers = [
        workerIn('PLACING', 'd', { createdAtMs: 1, attempts: 2, nextAttemptAtMs: 7, reason: 'full' }),
        workerIn('STARTING', 'c', { createdAtMs: 2, startedAtMs: null }),
        workerIn('READY', 'b', { createdAtMs: 3, worked: true, idleSinceMs: 4, excusedUntilMs: 5, lastTakeAtMs: 6 }),
        workerIn('DRAINING', 'a', { createdAtMs: 4, lastSeenAtMs: null, attempts: 1 }),
        workerIn('FAILED', 'e', { createdAtMs: 5, forgetAtMs: 99, released: true, reason: 'crashed' }),
      ]
      for (const worker of workers) state.workers.save(worker)
      expect(state.workers.all()).toEqual(workers)
      const ready = workerIn('READY', 'd', { createdAtMs: 1 })
      state.workers.save(ready)
      state.workers.save({ ...ready, lastSeenAtMs: 8, lastTakeAtMs: 9, idleSinceMs: 10 })
      expect(state.workers.get('d')).toEqual({ ...ready, lastSeenAtMs: 8, lastTakeAtMs: 9, idleSinceMs: 10 })
      state.workers.save({ ...ready, excusedUntilMs: 77, worked: true })
      expect(state.workers.get('d')).toEqual({ ...ready, excusedUntilMs: 77, worked: true })
      state.workers.remove('d')
      expect(state.workers.get('d')).toBeNull()
      expect(state.workers.all()).toHaveLength(4)
    },
  },
  {
    title: '[WRK-26, TMO-7] remembers a stop order until it is forgotten; the first kill time stands',
    check: (state) => {
      state.workers.save(workerIn('READY', 'w'))
      state.workers.orderStop('w', 'j1', 30)
      state.workers.orderStop('w', 'j1', 60)
      state.workers.orderStop('w', 'j2', 60)
      const order = { workerId: 'w', jobId: 'j1', delivered: false, killAtMs: 30 }
      expect(state.workers.stops('w')).toContainEqual(order)
      state.workers.markDelivered('w')
      expect(state.workers.stops('w').map(({ delivered: received }) => received)).toEqual([true, true])
      state.workers.markUndelivered('w', 'j1')
      expect(state.workers.stops('w')).toContainEqual(order)
      state.workers.deleteStop('w', 'j1')
      expect(state.workers.stops('w').map(({ jobId }) => jobId)).toEqual(['j2'])
      expect(state.workers.withStops()).toEqual(['w'])
      state.workers.remove('w')
      expect([state.workers.withStops(), state.workers.stops('w')]).toEqual([[], []])
    },
  },
  {
    title: '[CTL-2, LSE-12, JOB-23] keeps texts as they came, long and short, and of a job that ended only what is still needed',
    check: (state) => {
      const { payloads } = state
      // At the limit of the text stored in the job's row, and one above; pieces in one row, and in several.
      const texts = ['1', `"${'x'.repeat(2_046)}"`, `"${'x'.repeat(2_047)}"`, `"${'é\u{1f600}'.repeat(200_000)}"`]
      for (const [index, input] of texts.entries())
        for (const [other, output] of texts.entries()) {
          const queued = job(1 + 10 * index + other)
          const { seq } = queued
          const of = () => KINDS.map((kind) => payloads.get(seq, kind))
          state.jobs.insert(queued, input)
          payloads.setS3Config(seq, 'sealed')
          expect(of()).toEqual([input, undefined, 'sealed'])
          const held = leaseJob(queued, { workerId: 'w', boot: 'b' }, 0, TIMES)
          state.jobs.save(queued, held)
          for (const progress of texts) payloads.setOutput(seq, progress)
          expect(of()).toEqual([input, texts.at(-1), 'sealed'])
          expect(payloads.appendChunk(seq, 1, '{"output":1}')).toBe(true)
          for (const said of [texts.at(-1) ?? '', output]) {
            payloads.setOutput(seq, said)
            payloads.clearAttempt(seq)
            expect(of()).toEqual([input, undefined, 'sealed'])
          }
          payloads.setOutput(seq, output)
          const failed = finishJob(held, 'FAILED', 9, 'error')
          state.jobs.end(held, failed)
          expect(of()).toEqual([input, undefined, 'sealed'])
          const again = retryJob(failed, state.jobs.nextSequence())
          state.jobs.save(failed, again)
          payloads.setOutput(seq, texts.at(-1 - other) ?? '')
          const over = finishJob(again, 'COMPLETED', 9, null)
          state.jobs.end(again, over, output)
          expect(of()).toEqual([undefined, output, undefined])
          expect(state.jobs.bySeq(seq)).toEqual(over)
          state.jobs.remove(over)
          payloads.clearJob(seq)
          expect(of()).toEqual([undefined, undefined, undefined])
        }
    },
  },
  {
    title: '[RUN-13] keeps an idempotency key per user, and forgets all at the end of the endpoint',
    check: (state) => {
      const record = { fingerprint: 'f', jobId: 'j', createdAtMs: 1 }
      state.keys.put('u', 'k', record)
      expect([state.keys.find('u', 'k'), state.keys.find('v', 'k')]).toEqual([record, null])
      state.keys.put('u', 'k', { ...record, jobId: 'j2' })
      expect(state.keys.find('u', 'k')?.jobId).toBe('j2')
      state.keys.clear()
      expect(state.keys.find('u', 'k')).toBeNull()
    },
  },
  {
    title: 'keeps totals, the back-off of starts and the time of the alarm',
    check: ({ meta }) => {
      expect([meta.totals(), meta.launch(), meta.alarmAtMs(), meta.waitsForCapacity(), meta.deleted()]).toEqual([
        { completed: 0, failed: 0, retried: 0, superseded: 0 },
        { failures: 0, notBeforeMs: 0 },
        null,
        false,
        false,
      ])
      meta.add('completed')
      meta.add('retried', 2)
      meta.setLaunch({ failures: 1, notBeforeMs: 5 })
      meta.setAlarmAtMs(7)
      meta.setWaitsForCapacity(true)
      meta.setDeleted()
      expect(meta.totals()).toEqual({ completed: 1, failed: 0, retried: 2, superseded: 0 })
      const seekers = [{ endpointId: 'e', own: true, untilMs: 9, seen: 1 }]
      meta.setCapacitySeekers(seekers)
      expect(meta.capacitySeekers()).toEqual(seekers)
      expect([meta.launch().notBeforeMs, meta.alarmAtMs(), meta.waitsForCapacity(), meta.deleted()]).toEqual([5, 7, true, true])
      meta.setAlarmAtMs(null)
      expect(meta.alarmAtMs()).toBeNull()
      expect(meta.idMask()).toEqual(meta.idMask())
    },
  },
  {
    title: 'gives random bytes, each time others',
    check: (state) => {
      const [one, two] = [state.randomBytes(22), state.randomBytes(22)]
      expect([one.length, two.length]).toEqual([22, 22])
      expect(one).not.toEqual(two)
    },
  },
]

function job(seq: number, change: Partial<QueuedJob> = {}): QueuedJob {
  const times = { createdAtMs: seq, ttlAtMs: 1_000_000, executionTimeoutMs: 600_000, retentionMs: 60_000 }
  return { ...submitJob({ seq, id: `job-${seq}`, lowPriority: false, webhook: null, hasS3Config: false, ...times }), ...change }
}

function lease(state: QueueState, queued: QueuedJob, workerId: string): RunningJob {
  const held = leaseJob(queued, { workerId, boot: 'b' }, 0, TIMES)
  state.jobs.insert(queued)
  state.jobs.save(queued, held)
  return held
}
