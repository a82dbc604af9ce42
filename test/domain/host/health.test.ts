import { describe, expect, test } from 'vitest'
import { cordonReason, healthOf, sameProblems } from '../../../src/domain/host/health.ts'
import { submitJob } from '../../../src/domain/job/job.ts'
import { holdLease, leaseJob, showIdle } from '../../../src/domain/job/lease.ts'
import { silentAtMs } from '../../../src/domain/worker/worker.ts'
import { workerIn } from '../../support/queue/workers.ts'

const ecc = { index: 2, uuid: 'GPU-b', problem: 'uncorrectable ECC errors' }
const hot = { index: 0, uuid: 'GPU-a', problem: 'overheated (95 °C or more)' }
const driver = { index: null, uuid: null, problem: 'nvidia-smi does not answer' }

describe('health of a host', () => {
  const facts = { online: true, suspect: false, lost: false, gpuProblems: 0, oversize: false, diskFull: false, replaced: false }
  test.each([
    ['HEALTHY', {}],
    ['UNHEALTHY', { gpuProblems: 1 }],
    ['UNHEALTHY', { oversize: true }],
    ['UNHEALTHY', { replaced: true }],
    ['UNHEALTHY', { diskFull: true }],
    ['SUSPECT', { suspect: true, gpuProblems: 1 }],
    ['SUSPECT', { online: false }],
    ['LOST', { online: false, lost: true, gpuProblems: 1 }],
  ])('[HOST-33] is the worst known state: %s', (health, change) => {
    expect(healthOf({ ...facts, ...change })).toBe(health)
  })
})

describe('cordon for the health of GPUs', () => {
  test('[HOST-42] names the new problems, GPU by GPU', () => {
    expect(cordonReason([], [ecc])).toBe('gpu 2: uncorrectable ECC errors')
    expect(cordonReason([ecc], [ecc, hot])).toBe('gpu 0: overheated (95 °C or more)')
    expect(cordonReason([], [driver])).toBe('gpus: nvidia-smi does not answer')
    expect(cordonReason([], [ecc, hot, driver, { ...ecc, index: 3, uuid: 'GPU-c' }])).toBe(
      'gpu 2: uncorrectable ECC errors; gpu 0: overheated (95 °C or more); gpus: nvidia-smi does not answer; 1 more',
    )
  })

  test('[HOST-42] a known or vanished problem is no reason; one that returns is', () => {
    expect(cordonReason([ecc, hot], [ecc])).toBeNull()
    expect(cordonReason([ecc], [])).toBeNull()
    expect(cordonReason([], [])).toBeNull()
    expect(cordonReason([], [hot])).not.toBeNull()
  })

  test('[HOST-42] the same GPU under another index is the same problem; another GPU with it is not', () => {
    expect(cordonReason([ecc], [{ ...ecc, index: 1 }])).toBeNull()
    expect(cordonReason([ecc], [{ ...ecc, uuid: 'GPU-c' }])).not.toBeNull()
  })

  test('lists are compared whatever their order', () => {
    expect(sameProblems([ecc, hot], [hot, ecc])).toBe(true)
    expect(sameProblems([ecc], [ecc, hot])).toBe(false)
    expect(sameProblems([ecc, hot], [ecc])).toBe(false)
    expect(sameProblems([ecc], [hot])).toBe(false)
  })
})

describe('work on a silent host', () => {
  const job = submitJob({
    seq: 1,
    id: 'j',
    lowPriority: false,
    webhook: null,
    createdAtMs: 0,
    ttlAtMs: 1e9,
    executionTimeoutMs: 1e9,
    retentionMs: 1e9,
    hasS3Config: false,
  })
  const leased = leaseJob(job, { workerId: 'w', boot: 'b' }, 0, { pingIntervalMs: 10_000 })

  test('[HOST-36] its lease is made longer, never shorter', () => {
    expect(holdLease(leased, 35_000).leaseUntilMs).toBe(35_000)
    expect(holdLease(leased, 29_000).leaseUntilMs).toBe(30_000)
  })

  test('[HOST-36, LSE-3] a worker that has shown that it holds nothing is not waited for', () => {
    expect(holdLease(showIdle(leased, 1_000), 35_000).leaseUntilMs).toBe(3_000)
  })

  test('[HOST-36, LSE-7] a worker is silent 4 P after its last ping, but not before its host must have stopped it', () => {
    const worker = workerIn('READY', 'w', { lastSeenAtMs: 100_000 })
    expect(silentAtMs(worker, 40_000)).toBe(140_000)
    expect(silentAtMs({ ...worker, excusedUntilMs: 145_000 }, 40_000)).toBe(145_000)
    expect(silentAtMs({ ...worker, excusedUntilMs: 135_000 }, 40_000)).toBe(140_000)
  })
})
