import { type EndedJob, finishJob, type QueuedJob, submitJob } from '../../src/domain/job/job.ts'
import { leaseJob } from '../../src/domain/job/lease.ts'
import { describe, expect, it } from '../support/unit.ts'
import { Fleet } from './fleet.ts'
import { World } from './world.ts'

const RULES = { pingIntervalMs: 10_000 }

function job(seq: number): QueuedJob {
  const times = { createdAtMs: 0, ttlAtMs: 86_400_000, executionTimeoutMs: 600_000, retentionMs: 1_800_000 }
  return submitJob({ seq, id: `job ${seq}`, lowPriority: false, webhook: null, hasS3Config: false, ...times })
}

const leased = (one: QueuedJob) => leaseJob(one, { workerId: 'w', boot: 'b' }, 1, RULES)

function world(): World {
  const made = new World(1)
  made.checks.acknowledged({ endpoint: 'e', key: 'key', id: 'job 1', seq: 1, hasWebhook: true })
  return made
}

// Each check is shown to find the violation that it is for.
describe('[DEV-20] the checks of a simulation find', () => {
  it('an accepted job without a row', () => {
    expect(() => world().checks.saw('job 1', null, undefined)).toThrow('job 1 is lost')
  })

  it('a job that changes after its end', () => {
    const { checks } = world()
    const failed: EndedJob = finishJob(leased(job(1)), 'FAILED', 2, 'it failed')
    checks.saw('job 1', failed, undefined)
    checks.saw('job 1', null, undefined)
    expect(() => checks.saw('job 1', { ...failed, finishedAtMs: 3 }, undefined)).toThrow('and then as')
    expect(() => checks.saw('job 1', leased(job(1)), undefined)).toThrow('is IN_PROGRESS now')
  })

  it('a result that no worker has posted', () => {
    const { checks } = world()
    const done = finishJob(leased(job(1)), 'COMPLETED', 2, null)
    expect(() => checks.saw('job 1', done, '"forged"')).toThrow('no worker has posted')
    const other = world()
    other.checks.result('job 1', '"e.w run 1"')
    other.checks.saw('job 1', done, '"e.w run 1"')
  })

  it('a result of a worker that did not hold the job last', () => {
    const { checks } = world()
    checks.result('job 1', '"e.former run 1"')
    const done = finishJob(leased(job(1)), 'COMPLETED', 2, null)
    expect(() => checks.saw('job 1', done, '"e.former run 1"')).toThrow('which held it last')
  })

  it('two jobs of one key', () => {
    expect(() => world().checks.acknowledged({ endpoint: 'e', key: 'key', id: 'job 2', seq: 2, hasWebhook: true })).toThrow('has two jobs')
  })

  it('a job that belongs to no submit', () => {
    const { checks } = world()
    checks.begins('job 1', 'a')
    checks.scanBegun()
    checks.begins('job 2', 'a')
    expect(() => checks.scanBegun()).toThrow('no client was told')
  })

  it('an end that was never notified, and a notification before the end', () => {
    const { checks } = world()
    expect(() => checks.notified('job 1')).toThrow('has not ended')
    checks.scanNotified()
    checks.saw('job 1', finishJob(leased(job(1)), 'FAILED', 2, 'it failed'), undefined)
    const other = world()
    other.checks.saw('job 1', finishJob(leased(job(1)), 'FAILED', 2, 'it failed'), undefined)
    expect(() => other.checks.scanNotified()).toThrow('never notified')
    other.checks.notified('job 1')
    other.checks.scanNotified()
  })

  it('a job that overtakes an older one', () => {
    expect(() => world().checks.dispatched(leased(job(2)), [job(1)])).toThrow('before the older')
    world().checks.dispatched(leased(job(1)), [job(2)])
  })

  it('a job that runs in two connected workers for long, and none that is not connected', () => {
    const made = world()
    const { checks, scheduler } = made
    checks.begins('job 1', 'a')
    checks.begins('job 1', 'b')
    scheduler.after(200_000, () => undefined)
    scheduler.step(made.nowMs + 300_000)
    checks.scanRuns((worker) => worker === 'a')
    expect(() => checks.scanRuns(() => true)).toThrow('runs in a and in b')
    checks.stops('job 1', 'a')
    checks.scanRuns(() => true)
  })

  it('a GPU that is allocated twice', () => {
    const made = world()
    const fleet = new Fleet(made)
    const host = fleet.addHost(0)
    Object.assign(host, { gpus: -1 })
    expect(() => fleet.check()).toThrow('0 are allocated')
  })
})
