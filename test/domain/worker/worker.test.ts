import { describe, expect, test } from 'vitest'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import { placementRequestOf } from '../../../src/domain/worker/shape.ts'
import { activeWorkers, noTakeDueAtMs, workerDueAtMs } from '../../../src/domain/worker/worker.ts'
import { workerWorkload } from '../../../src/effects/workers/worker-spec.ts'
import { workerIn } from '../../support/queue/workers.ts'

const LOST_AFTER_MS = 40_000

function endpoint(body: Record<string, unknown>) {
  const result = createEndpointConfig(SEED_CATALOG, { name: 'n', image: 'i', ...body }, { id: 'e', teamId: 't' }, 0)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.config
}

describe('time alone changes a worker', () => {
  test('[TMO-8, TMO-12] initialization counts from the start of the container; until then there is no deadline', () => {
    const due = (startedAtMs: number | null) => workerDueAtMs(workerIn('STARTING', 'w', { createdAtMs: 1, startedAtMs }), LOST_AFTER_MS)
    expect([due(null), due(5_000)]).toEqual([null, 425_000])
  })

  test('[LSE-7, WRK-44] a ready one is lost 4 P after its last ping, or, while idle, 2 min after it last asked for work', () => {
    const ready = workerIn('READY', 'w', { lastSeenAtMs: 100_000, lastTakeAtMs: 10_000, idleSinceMs: 15_000 })
    expect(noTakeDueAtMs(ready)).toBe(135_000)
    expect(workerDueAtMs(ready, LOST_AFTER_MS)).toBe(135_000)
    expect(workerDueAtMs({ ...ready, lastSeenAtMs: 94_999 }, LOST_AFTER_MS)).toBe(134_999)
    expect(workerDueAtMs({ ...ready, idleSinceMs: null }, LOST_AFTER_MS)).toBe(140_000)
  })

  test('[WRK-43] a failed one is shown until it is forgotten, and its host is asked meanwhile', () => {
    const failed = workerIn('FAILED', 'w', { forgetAtMs: 600_000, nextAttemptAtMs: 30_000 })
    expect(workerDueAtMs(failed, LOST_AFTER_MS)).toBe(30_000)
    expect(workerDueAtMs({ ...failed, released: true }, LOST_AFTER_MS)).toBe(600_000)
    expect(activeWorkers([failed], new Map()).map(({ status }) => status)).toEqual(['UNHEALTHY'])
  })
})

describe('the share of a host for a worker', () => {
  test('[WRK-46] is 2 vCPU and 8 GB per GPU', () => {
    const { shapes } = placementRequestOf(SEED_CATALOG, endpoint({ gpu: { pools: ['ADA_24'], count: 3 } }))
    expect(shapes.length).toBeGreaterThan(0)
    for (const shape of shapes) expect(shape).toMatchObject({ gpu: { count: 3 }, vcpus: 6, memoryMb: 24_576 })
  })

  test('[WRK-46, WRK-41] is that of its flavor for a CPU worker, and its URLs name the GPU as CPU', () => {
    const config = endpoint({ cpu: [{ id: 'cpu3c', vcpuCount: 2 }] })
    const [shape] = placementRequestOf(SEED_CATALOG, config).shapes
    expect(shape).toEqual({ gpu: null, flavorId: 'cpu3c', vcpus: 2, memoryMb: 4_096 })
    if (!shape) return
    const identity = { workerId: 'w', boot: 'boot-nonce', token: 't', pingIntervalMs: 10_000, dataCenterId: 'LOCAL-1' }
    const { platformEnv } = workerWorkload(config, identity, shape)
    expect(platformEnv).toMatchObject({ RUNPOD_GPU_COUNT: '0', RUNPOD_GPU_NAME: '', RUNPOD_INIT_TIMEOUT: '420' })
    expect(platformEnv.RUNPOD_WEBHOOK_GET_JOB).toMatch(/\?gpu=CPU&boot=boot-nonce$/)
  })
})
