import { describe, expect, test } from 'vitest'
import { type PlacementHost, type PlacementRequest, rankHosts } from '../../src/domain/placement.ts'
import { decideScaling, launchBackoffMs, type ScalingInputs } from '../../src/domain/scaling.ts'
import { countWorkers, type Worker, type WorkerPhase } from '../../src/domain/worker.ts'

const worker = (id: string, phase: WorkerPhase, change: Partial<Worker> = {}): Worker => ({
  id,
  boot: 'b',
  version: 1,
  phase,
  hostId: 'h',
  gpuTypeId: null,
  dataCenterId: 'LOCAL-1',
  createdAtMs: 0,
  startedAtMs: 0,
  lastSeenAtMs: 0,
  idleSinceMs: null,
  reason: null,
  nextAttemptAtMs: 0,
  attempts: 0,
  forgetAtMs: null,
  released: false,
  lastTakeAtMs: null,
  ...change,
})

const inputs = (change: Partial<ScalingInputs>): ScalingInputs => ({
  queued: 0,
  workers: [],
  held: new Map(),
  min: 0,
  max: 3,
  idleTimeoutMs: 5_000,
  version: 1,
  launchNotBeforeMs: 0,
  nowMs: 10_000,
  ...change,
})

describe('scaling', () => {
  test('nothing queued, nothing wanted: no worker', () => {
    expect(decideScaling(inputs({}))).toEqual({ desired: 0, start: 0, stop: [], nextAtMs: null })
  })

  test('a queued job without a free worker starts one, up to max', () => {
    expect(decideScaling(inputs({ queued: 1 })).start).toBe(1)
    expect(decideScaling(inputs({ queued: 9 })).start).toBe(3)
    expect(decideScaling(inputs({ queued: 9, max: 0 })).start).toBe(0)
  })

  test('workers that are coming or idle count as free, busy and failed ones do not', () => {
    const workers = [worker('a', 'STARTING'), worker('b', 'READY', { idleSinceMs: 9_000 })]
    expect(decideScaling(inputs({ queued: 2, workers })).start).toBe(0)
    expect(decideScaling(inputs({ queued: 2, workers, held: new Map([['b', 1]]) })).start).toBe(1)
    expect(decideScaling(inputs({ queued: 1, workers: [worker('f', 'FAILED')] })).start).toBe(1)
  })

  test('[SCALE-5] an idle worker stops at its idle timeout, never below min', () => {
    const workers = [worker('a', 'READY', { idleSinceMs: 5_001 }), worker('b', 'READY', { idleSinceMs: 5_000 })]
    expect(decideScaling(inputs({ workers }))).toMatchObject({ stop: ['b'], nextAtMs: 10_001 })
    expect(decideScaling(inputs({ workers, min: 2 })).stop).toEqual([])
    expect(decideScaling(inputs({ workers, min: 1 })).stop).toEqual(['b'])
  })

  test('min workers are kept up without any job', () => {
    expect(decideScaling(inputs({ min: 2 })).start).toBe(2)
  })

  test('[SCALE-6] idle workers of an old release stop at once, busy ones finish first', () => {
    const workers = [worker('old', 'READY', { idleSinceMs: 9_999 }), worker('busy', 'READY')]
    const decision = decideScaling(inputs({ workers, version: 2, held: new Map([['busy', 1]]) }))
    expect(decision.stop).toEqual(['old'])
  })

  test('after failures nothing starts before the back-off has passed', () => {
    expect(decideScaling(inputs({ queued: 1, launchNotBeforeMs: 10_001 }))).toMatchObject({ start: 0, nextAtMs: 10_001 })
    expect(decideScaling(inputs({ queued: 1, launchNotBeforeMs: 10_000 })).start).toBe(1)
    expect([1, 2, 3, 30].map(launchBackoffMs)).toEqual([1_000, 2_000, 4_000, 300_000])
  })

  test('a long queue starts a few workers at a time, and none while one has found no room', () => {
    const placing = Array.from({ length: 4 }, (_, i) => worker(`p${i}`, 'PLACING'))
    expect(decideScaling(inputs({ queued: 5_000, max: 1_000 })).start).toBe(10)
    expect(decideScaling(inputs({ queued: 5_000, max: 1_000, workers: placing })).start).toBe(6)
    const throttled = [...placing, worker('t', 'PLACING', { attempts: 1 })]
    expect(decideScaling(inputs({ queued: 5_000, max: 1_000, workers: throttled })).start).toBe(0)
  })

  test('[HLT-2] an idle worker counts as idle and as ready', () => {
    const workers = [
      worker('a', 'READY'),
      worker('b', 'READY'),
      worker('c', 'PLACING', { attempts: 1 }),
      worker('d', 'FAILED'),
      worker('e', 'DRAINING'),
    ]
    expect(countWorkers(workers, new Map([['b', 1]]))).toEqual({
      idle: 1,
      initializing: 0,
      ready: 1,
      running: 1,
      throttled: 1,
      unhealthy: 1,
    })
  })
})

describe('placement', () => {
  const host = (id: string, change: Partial<PlacementHost> = {}): PlacementHost => ({
    id,
    dataCenterId: 'LOCAL-1',
    runtimes: ['process', 'docker'],
    vcpuFree: 8,
    memoryMbFree: 32_768,
    diskGbFree: 100,
    gpus: [{ typeId: 'NVIDIA L4', free: 2, cudaVersion: '12.8' }],
    ...change,
  })
  const request: PlacementRequest = {
    runtime: 'docker',
    dataCenterIds: [],
    diskGb: 10,
    shapes: [{ gpu: { typeId: 'NVIDIA L4', count: 1 }, vcpus: 2, memoryMb: 8_192 }],
    allowedCudaVersions: [],
    minCudaVersion: null,
  }

  test('the fuller host wins among those that fit', () => {
    const hosts = [host('roomy', { vcpuFree: 64 }), host('full', { gpus: [{ typeId: 'NVIDIA L4', free: 1, cudaVersion: null }] })]
    expect(rankHosts(request, hosts).candidates.map((c) => c.hostId)).toEqual(['full', 'roomy'])
  })

  test.each([
    ['runtime: docker > process', request, { runtimes: ['process'] }],
    ['gpu NVIDIA L4: 1 > 0', request, { gpus: [] }],
    ['vcpu: 2 > 1', request, { vcpuFree: 1 }],
    ['memoryMb: 8192 > 1', request, { memoryMbFree: 1 }],
    ['diskGb: 10 > 9', request, { diskGbFree: 9 }],
    ['dataCenter: EU-RO-1 > LOCAL-1', { ...request, dataCenterIds: ['EU-RO-1'] }, {}],
    ['cuda: 12.11 > 12.8', { ...request, minCudaVersion: '12.11' }, {}],
    ['cuda: 12.4 > 12.8', { ...request, allowedCudaVersions: ['12.4'] }, {}],
  ])('a host that does not fit says %s', (failed, wanted, change) => {
    expect(rankHosts(wanted, [host('h', change)])).toEqual({ candidates: [], refusals: [{ hostId: 'h', failed: [failed] }] })
  })
})
