import { finishJob, type Job, type QueuedJob, submitJob } from '../../../src/domain/job/job.ts'
import { endLease, leaseJob } from '../../../src/domain/job/lease.ts'
import { attemptsOf, medianPhases, type PastAttempt, type WorkerLife, waitingSinceMs } from '../../../src/domain/job/timeline.ts'
import { queued as retried } from '../../support/queue/jobs.ts'
import { describe, expect, it } from '../../support/unit.ts'

const queued = submitJob({
  seq: 1,
  id: 'j',
  lowPriority: false,
  webhook: null,
  createdAtMs: 1_000,
  ttlAtMs: 1e9,
  executionTimeoutMs: 1e6,
  retentionMs: 1e6,
  hasS3Config: false,
})
const leased = (job: QueuedJob, atMs: number, workerId = 'w') => leaseJob(job, { workerId, boot: 'b' }, atMs, { pingIntervalMs: 1_000 })
const life = (facts: Partial<WorkerLife>): WorkerLife => ({
  id: 'w',
  createdAtMs: 0,
  placedAtMs: null,
  startedAtMs: null,
  readyAtMs: null,
  leftAtMs: null,
  gpuTypeId: null,
  gpuCount: 0,
  dataCenterId: null,
  ...facts,
})
const lives = (...all: WorkerLife[]) => new Map(all.map((one) => [one.id, one]))
const spans = (job: Job, known: Map<string, WorkerLife>, past: PastAttempt[] = []) =>
  attemptsOf(job, past, known).map(({ phases }) => phases.map(({ phase, fromMs, toMs }) => [phase, fromMs, toMs]))

describe('attemptsOf', () => {
  it('[JOB-43] splits the wait for a worker into its phases', () => {
    const job = finishJob(leased(queued, 6_000), 'COMPLETED', 9_000)
    const cold = life({ createdAtMs: 1_500, placedAtMs: 2_000, startedAtMs: 4_000, readyAtMs: 5_900 })
    expect(spans(job, lives(cold))).toEqual([
      [
        ['QUEUED', 1_000, 1_500],
        ['PLACING', 1_500, 2_000],
        ['IMAGE', 2_000, 4_000],
        ['START', 4_000, 5_900],
        ['QUEUED', 5_900, 6_000],
        ['RUNNING', 6_000, 9_000],
      ],
    ])
  })

  it('[JOB-43] a worker that was ready costs no start, and one that began before the job only the rest', () => {
    const job = leased(queued, 2_000)
    const warm = life({ createdAtMs: 0, placedAtMs: 1, startedAtMs: 2, readyAtMs: 3 })
    const running = [['RUNNING', 2_000, null]]
    expect(spans(job, lives(warm))).toEqual([[['QUEUED', 1_000, 2_000], ...running]])
    expect(spans(job, lives())).toEqual([[['QUEUED', 1_000, 2_000], ...running]])
    const early = life({ createdAtMs: 0, placedAtMs: 500, startedAtMs: 1_200, readyAtMs: 1_800 })
    expect(spans(job, lives(early))).toEqual([[['IMAGE', 1_000, 1_200], ['START', 1_200, 1_800], ['QUEUED', 1_800, 2_000], ...running]])
  })

  it('[JOB-43] an attempt that was lost stands before the next, which waits from then on', () => {
    const past: PastAttempt = {
      attempt: 1,
      workerId: 'a',
      startedAtMs: 2_000,
      endedAtMs: 3_000,
      outcome: 'LOST',
      reason: 'no ping',
      requeuedAtMs: 3_000,
    }
    const again = retried(endLease(leased(queued, 2_000, 'a'), 'no ping', 3_000, 'retry'))
    expect(attemptsOf(again, [past], lives())).toMatchObject([{ attempt: 1, outcome: 'LOST', endedAtMs: 3_000, reason: 'no ping' }])
    expect(waitingSinceMs(again, [past])).toBe(3_000)
    const second = finishJob(leased(again, 3_500, 'b'), 'COMPLETED', 4_000)
    expect(attemptsOf(second, [past], lives()).map(({ attempt, workerId, outcome }) => [attempt, workerId, outcome])).toEqual([
      [1, 'a', 'LOST'],
      [2, 'b', 'COMPLETED'],
    ])
    expect(spans(second, lives(), [past])[1]).toEqual([
      ['QUEUED', 3_000, 3_500],
      ['RUNNING', 3_500, 4_000],
    ])
    expect(waitingSinceMs(second, [past])).toBeNull()
    // Its own result came after all.
    expect(attemptsOf(finishJob(again, 'COMPLETED', 3_100), [past], lives())).toMatchObject([{ attempt: 1, outcome: 'COMPLETED' }])
    expect(attemptsOf(finishJob(again, 'CANCELLED', 3_100), [past], lives())).toMatchObject([
      { attempt: 1, outcome: 'LOST', endedAtMs: 3_000 },
    ])
  })
})

describe('medianPhases', () => {
  it('[JOB-43] are taken over the attempts that had the phase', () => {
    const job = (ms: number) => attemptsOf(finishJob(leased(queued, 1_000), 'COMPLETED', 1_000 + ms), [], lives())
    expect(medianPhases([...job(10), ...job(500), ...job(30)])).toEqual({
      QUEUED: null,
      PLACING: null,
      IMAGE: null,
      START: null,
      RUNNING: 30,
    })
  })
})
