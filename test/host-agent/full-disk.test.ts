import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/host-agent/log.ts'
import { LogShipper } from '../../src/host-agent/logs/shipper.ts'
import { ReportQueue } from '../../src/host-agent/plane/report-queue.ts'
import { WorkloadLedger } from '../../src/host-agent/workloads/ledger.ts'
import { WorkloadRecords } from '../../src/host-agent/workloads/records.ts'
import { Supervisor } from '../../src/host-agent/workloads/supervisor.ts'
import type { Workload, WorkloadReport } from '../../src/host-protocol/messages.ts'
import { waitUntil } from '../support/time.ts'
import { FakeRuntime } from './support/fake-runtime.ts'
import { tempDir } from './support/temp-dir.ts'
import { makeWorkload } from './support/workload.ts'

// Tenants can fill the disk that the agent's own state is on.

const disk = { isFull: false }

vi.mock(import('node:fs'), async (original) => {
  const fs = await original()
  return {
    ...fs,
    writeFileSync: ((path: string, text: string, options: object) => {
      fs.writeFileSync(path, disk.isFull ? '' : text, options)
      if (disk.isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }) as typeof fs.writeFileSync,
  }
})

let dir: string
let runtime: FakeRuntime
let reports: WorkloadReport[]
let supervisor: Supervisor
let nowMs: number

beforeEach(() => {
  disk.isFull = false
  nowMs = 100
  dir = tempDir('full-disk')
  runtime = new FakeRuntime()
  reports = []
  supervisor = open()
})

function open(): Supervisor {
  const log = silentLog()
  const records = new WorkloadRecords(join(dir, 'workloads'), 0)
  const ledger = new WorkloadLedger({ records, report: (report) => reports.push(report), log, now: () => nowMs })
  const logs = new LogShipper({ dir: join(dir, 'logs'), send: async () => undefined, log, now: () => nowMs })
  return new Supervisor({
    runtimes: [runtime],
    ledger,
    volumes: { wipe: async () => {} },
    logs,
    log,
    now: () => nowMs,
    isReporting: () => false,
  })
}

const pod = (change: Partial<Workload> = {}) => makeWorkload({ id: 'p-1', image: 'nginx', ...change })
const said = () => reports.map(({ state }) => state)

async function want(...desired: Workload[]): Promise<void> {
  supervisor.apply(desired)
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('[HOST-60] a pod that ends while the disk is full is reported, held and can be removed', async () => {
  await want(pod())
  disk.isFull = true
  await want(pod({ desired: 'held' }))
  expect(reports.at(-1)).toMatchObject({ state: 'exited', exitCode: 143, at: 7 })
  await want(pod({ desired: 'stopped' }))
  expect(said()).toEqual(['pulling', 'starting', 'running', 'exited', 'gone'])
  expect(runtime.workloads.size).toBe(0)
})

test('a container that started as the disk filled up is still tracked', async () => {
  const start = runtime.start.bind(runtime)
  runtime.start = async (workload, hooks) => {
    const started = await start(workload, hooks)
    disk.isFull = true
    return started
  }
  await want(pod())
  expect(said()).toEqual(['pulling', 'starting', 'running'])
  await want(pod({ desired: 'stopped' }))
  expect(runtime.calls).toEqual(['start p-1', 'stop p-1 2000', 'remove p-1'])
})

test('[HOST-73] nothing is pulled or started while its record cannot be written; the plane gets the reason', async () => {
  disk.isFull = true
  await want(pod())
  expect(runtime.calls).toEqual([])
  expect(said()).toEqual(['pulling'])
  expect(reports.at(-1)).toMatchObject({ state: 'pulling', reason: 'this host cannot write to its own disk, which may be full' })
})

test('[HOST-172] a pod whose start the disk refuses waits, and starts by itself once there is room; a worker is refused', async () => {
  disk.isFull = true
  await want(pod(), pod({ id: 'w-1', kind: 'worker' }))
  await want(pod(), pod({ id: 'w-1', kind: 'worker' }))
  expect(said()).toEqual(['pulling', 'error'])
  disk.isFull = false
  // Not at once: a start that has just failed may fail again.
  await want(pod(), pod({ id: 'w-1', kind: 'worker' }))
  expect(runtime.calls).toEqual([])
  nowMs += 10_000
  await want(pod(), pod({ id: 'w-1', kind: 'worker' }))
  expect(runtime.calls).toEqual(['start p-1'])
  expect(said().slice(2)).toEqual(['pulling', 'starting', 'running'])
  expect(reports.at(-1)).toMatchObject({ state: 'running', reason: null })
})

test('[HOST-172] a disk that fills up during the pull: the pod waits, nothing runs, and it starts later', async () => {
  const start = runtime.start.bind(runtime)
  runtime.start = (workload, hooks) => {
    disk.isFull = nowMs < 1_000
    return start(workload, hooks)
  }
  await want(pod())
  expect(reports.at(-1)).toMatchObject({ state: 'pulling', reason: 'this host cannot write to its own disk, which may be full' })
  expect(runtime.workloads.size).toBe(0)
  disk.isFull = false
  nowMs += 10_000
  await want(pod())
  expect(said().at(-1)).toBe('running')
})

test('records that the full disk refused are written once there is room', async () => {
  await want(pod())
  disk.isFull = true
  await want(pod({ desired: 'held' }))
  disk.isFull = false
  supervisor.reconcile()
  expect(new WorkloadRecords(join(dir, 'workloads'), 0).get('p-1')).toMatchObject({ state: 'exited', exitCode: 143 })
})

test('reports are sent although the disk is full, and afterwards', async () => {
  const sent: number[] = []
  const path = join(dir, 'reports.json')
  const send = async (batch: WorkloadReport[]) => {
    sent.push(...batch.map(({ sequence }) => sequence))
    return 'taken' as const
  }
  const queue = new ReportQueue({ path, send, log: silentLog(), retryBaseMs: 1 })
  queue.start()
  const report = (sequence: number) => ({ workloadId: 'a', state: 'running' as const, exitCode: null, reason: null, at: 1, sequence })
  disk.isFull = true
  queue.push(report(1))
  await waitUntil('the first', () => sent.includes(1))
  disk.isFull = false
  queue.push(report(2))
  await waitUntil('the second', () => sent.includes(2))
  await queue.close(100)
})
