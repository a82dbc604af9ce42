import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { LogShipper } from '../../../src/host-agent/logs/shipper.ts'
import { WorkloadLedger } from '../../../src/host-agent/workloads/ledger.ts'
import { newRecord, WorkloadRecords } from '../../../src/host-agent/workloads/records.ts'
import { Supervisor } from '../../../src/host-agent/workloads/supervisor.ts'
import type { Workload, WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { FakeRuntime } from '../support/fake-runtime.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

const mounts = [{ kind: 'persistent' as const, id: 'p', path: '/workspace', sizeGb: 1 }]
const pod = (generation: number, change: Partial<Workload> = {}) =>
  makeWorkload({ id: `p-${generation}`, image: 'nginx', mounts, ...change })

describe('supervisor of pods', () => {
  let dir: string
  let runtime: FakeRuntime
  let reports: WorkloadReport[]
  let wiped: string[]
  let now: number
  let supervisor: Supervisor

  beforeEach(() => {
    dir = tempDir('supervisor')
    runtime = new FakeRuntime()
    reports = []
    wiped = []
    now = 100
    supervisor = open()
  })

  /** As an agent process that starts on the same state directory. */
  function open(): Supervisor {
    const log = silentLog()
    const records = new WorkloadRecords(join(dir, 'workloads'), 0)
    const ledger = new WorkloadLedger({ records, report: (report) => reports.push(report), log, now: () => now })
    const logs = new LogShipper({ dir: join(dir, 'logs'), send: async () => undefined, log, now: () => 100 })
    const volumes = { wipe: async (id: string) => void wiped.push(id) }
    return new Supervisor({ runtimes: [runtime], ledger, volumes, logs, log, now: () => now, isReporting: () => false })
  }

  /** Everything here settles in the queue of microtasks and immediates. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  async function want(...desired: Workload[]): Promise<void> {
    supervisor.apply(desired)
    await settle()
  }
  /** The states in the order of their numbers; the plane takes each number once. */
  const said = (generation: number) => {
    const own = reports.filter(({ workloadId }) => workloadId === `p-${generation}`)
    return [...new Map(own.map(({ sequence, state }) => [sequence, state])).values()]
  }
  const last = (generation: number) => reports.findLast(({ workloadId }) => workloadId === `p-${generation}`)

  test('[HOST-50][HOST-60] held: stopped with its grace, kept, and reported at the time of the container', async ({ expect }) => {
    await want(pod(1))
    expect(last(1)).toMatchObject({ state: 'running', at: 5 })
    await want(pod(1, { desired: 'held', stopGraceMs: 900 }))
    expect(last(1)).toMatchObject({ state: 'exited', exitCode: 143, at: 7 })
    await want(pod(1, { desired: 'held' }))
    await want(pod(1))
    expect(runtime.calls).toEqual(['start p-1', 'stop p-1 900'])
    expect(said(1)).toEqual(['pulling', 'starting', 'running', 'exited'])
  })

  test('a workload that is gone is forgotten after three days, unless the plane still lists it', async ({ expect }) => {
    await want(pod(1), pod(2))
    await want(pod(1, { desired: 'stopped' }), pod(2, { desired: 'stopped' }))
    const kept = () => readdirSync(join(dir, 'workloads'))
    await want(pod(2, { desired: 'stopped' }))
    now += 3 * 24 * 3_600_000
    supervisor.reconcile()
    expect(kept()).toEqual(['p-1.json', 'p-2.json'])
    now += 1
    supervisor.reconcile()
    expect(kept()).toEqual(['p-2.json'])
    await want(pod(2))
    expect(runtime.calls.filter((call) => call === 'start p-2')).toHaveLength(1)
  })

  test('a snapshot that has an id twice starts it once, with the first entry', async ({ expect }) => {
    await want(pod(1), pod(1), pod(1, { desired: 'stopped' }))
    expect(runtime.calls).toEqual(['start p-1'])
    expect(said(1)).toEqual(['pulling', 'starting', 'running'])
  })

  test('[HOST-36] a host without its lease starts no worker, also none whose image it was pulling; with a lease it does', async ({
    expect,
  }) => {
    runtime.pulled = new Promise(() => {})
    await want(pod(1, { kind: 'worker' }), pod(2))
    expect(supervisor.workerIds()).toEqual(['p-1'])
    await supervisor.pauseWorkers(supervisor.workerIds(), 0, 'lost touch')
    await settle()
    expect(runtime.calls).toEqual(['start p-1', 'start p-2'])
    runtime.pulled = Promise.resolve()
    await want(pod(1, { kind: 'worker' }), pod(2), pod(3))
    expect(runtime.calls).toEqual(['start p-1', 'start p-2', 'start p-3'])
    supervisor.resumeWorkers()
    await settle()
    expect(last(1)).toMatchObject({ state: 'running' })
  })

  test('[HOST-50] held while it starts: the start is cancelled and it is exited', async ({ expect }) => {
    runtime.pulled = new Promise(() => {})
    await want(pod(1))
    await want(pod(1, { desired: 'held' }))
    expect(said(1)).toEqual(['pulling', 'exited'])
    expect(last(1)?.reason).toBe('stopped before it was started')
  })

  test('[HOST-50] a pod that ends by itself keeps its container; a worker does not', async ({ expect }) => {
    const worker = makeWorkload({ id: 'w', kind: 'worker', image: 'nginx' })
    await want(pod(1), worker)
    for (const id of ['p-1', 'w']) runtime.workloads.get(id)?.end({ exitCode: 1, reason: 'exited with code 1', endedAtMs: 7 })
    await settle()
    expect([...runtime.workloads.keys()]).toEqual(['p-1'])
    expect(said(1)).toEqual(['pulling', 'starting', 'running', 'exited'])
  })

  test('[HOST-51][HOST-52] continues with the disk, and only then removes the previous ones', async ({ expect }) => {
    await want(pod(1))
    await want(pod(1, { desired: 'held' }))
    runtime.broken.add('p-2')
    await want(pod(1, { desired: 'held' }), pod(2, { replaces: ['p-1'], keepDisk: true }))
    expect(last(2)).toMatchObject({ state: 'error', reason: 'broken' })
    expect([...runtime.workloads.keys()]).toEqual(['p-1'])
    await want(pod(1, { desired: 'held' }), pod(2, { desired: 'held' }), pod(3, { replaces: ['p-2', 'p-1'], keepDisk: true }))
    expect(runtime.workloads.get('p-3')?.disk).toEqual(['p-1', 'p-3'])
    expect([...runtime.workloads.keys()]).toEqual(['p-3'])
    expect([last(1)?.state, last(2)?.state]).toEqual(['gone', 'gone'])
  })

  test('[HOST-51] without the disk the previous one is removed before the start', async ({ expect }) => {
    await want(pod(1))
    await want(pod(1, { desired: 'stopped' }), pod(2, { replaces: ['p-1'] }))
    expect(runtime.calls).toEqual(['start p-1', 'stop p-1 2000', 'remove p-1', 'start p-2'])
    expect(wiped).toEqual([])
  })

  test('[HOST-53] a removal that fails is tried again, and gone is reported only after it', async ({ expect }) => {
    await want(pod(1))
    runtime.stuck.add('p-1')
    await want(pod(1, { desired: 'stopped', wipe: true }))
    expect(last(1)?.state).toBe('exited')
    runtime.stuck.clear()
    supervisor.reconcile()
    await settle()
    expect(last(1)?.state).toBe('gone')
    expect(wiped).toEqual(['p'])
  })

  test('[HOST-61] the next agent process holds held workloads, and passes their disks on', async ({ expect }) => {
    await want(pod(1))
    await want(pod(1, { desired: 'held' }))
    supervisor = open()
    await supervisor.adopt()
    await want(pod(1, { desired: 'held' }), pod(2, { replaces: ['p-1'], keepDisk: true }))
    expect(said(1)).toEqual(['pulling', 'starting', 'running', 'exited', 'gone'])
    expect(runtime.workloads.get('p-2')?.disk).toEqual(['p-1', 'p-2'])
    expect(runtime.calls).toContain('sweep')
  })

  test('[HOST-109] a failed removal or sweep blocks no other workload, and is reported', async ({ expect }) => {
    await want(pod(1), pod(2))
    runtime.unstarted.add('p-1')
    runtime.stuck.add('p-1')
    runtime.sweep = async () => Promise.reject(new Error('no such image'))
    const records = new WorkloadRecords(join(dir, 'workloads'), 0)
    records.save({ ...(records.get('p-1') ?? newRecord('p-1', 'pod')), state: 'starting' })
    supervisor = open()
    await supervisor.adopt()
    await want(pod(1), pod(2))
    expect(last(1)).toMatchObject({ state: 'error', reason: 'the host agent was interrupted while it started this workload' })
    expect(last(2)?.state).toBe('running')
    await want(pod(1), pod(2, { desired: 'held' }))
    expect(last(2)?.state).toBe('exited')
  })

  test('[HOST-66] an image that is no reference reaches no runtime, and the user gets the reason', async ({ expect }) => {
    for (const [index, image] of ['https://docker.io/library/nginx', 'a/../../b', 'get?names=x:1&x='].entries()) {
      await want(pod(index, { image }))
      expect(last(index)).toMatchObject({
        state: 'error',
        reason: `image '${image}' is not valid: want an image reference such as docker.io/library/nginx:1.27, without https://`,
      })
    }
    expect(runtime.calls).toEqual([])
  })

  describe('an agent that dies while it starts something', () => {
    const never = new Promise<void>(() => {})
    async function restart(): Promise<void> {
      supervisor = open()
      await supervisor.adopt()
    }

    test.for(['pod', 'worker'] as const)(
      '[HOST-67] begins a %s anew once, then it is in error and not tried again',
      async (kind, { expect }) => {
        // Dies before the first event of the runtime, as on the first call to its engine.
        runtime.start = async ({ id }) => {
          runtime.calls.push(`start ${id}`)
          await never
          throw new Error('unreachable')
        }
        await want(pod(1, { kind }))
        await restart()
        await want(pod(1, { kind }))
        expect(reports).toEqual([])
        await restart()
        await want(pod(1, { kind }))
        await restart()
        await want(pod(1, { kind }))
        expect(runtime.calls.filter((call) => call === 'start p-1')).toHaveLength(2)
        expect(said(1)).toEqual(['error'])
        expect(last(1)?.reason).toBe('the host agent ended twice while it started this workload, and does not retry')
      },
    )

    test('[HOST-67] resets the count of a workload that starts in the end, fails or is cancelled', async ({ expect }) => {
      runtime.pulled = never
      await want(pod(1))
      await restart()
      runtime.pulled = Promise.resolve()
      await want(pod(1))
      expect(last(1)?.state).toBe('running')
      const attempts = (id: string) => JSON.parse(readFileSync(join(dir, `workloads/${id}.json`), 'utf8')).attempts
      expect(attempts('p-1')).toBe(0)
      runtime.pulled = never
      await want(pod(1), pod(2))
      expect(attempts('p-2')).toBe(1)
      await want(pod(1), pod(2, { desired: 'held' }))
      expect(attempts('p-2')).toBe(0)
    })

    test('[HOST-67] does not count when it was asked to end', async ({ expect }) => {
      runtime.pulled = never
      for (let process = 0; process < 4; process += 1) {
        await want(pod(1))
        supervisor.leave()
        await restart()
      }
      runtime.pulled = Promise.resolve()
      await want(pod(1))
      expect(last(1)?.state).toBe('running')
    })
  })

  test('[HOST-3][HOST-61] killed between the record of an end and its report: the next agent process reports it', async ({ expect }) => {
    await want(pod(1))
    await want(pod(1, { desired: 'held' }))
    const [exited] = reports.splice(-1)
    supervisor = open()
    await supervisor.adopt()
    await want(pod(1, { desired: 'held' }))
    expect(reports.at(-1)).toEqual(exited)
    expect(exited).toMatchObject({ state: 'exited', sequence: 4 })
  })

  test('[HOST-12][HOST-61] killed before the output of an ended pod was read to its end: the next agent process reads the rest', async ({
    expect,
  }) => {
    const withLog = pod(1, { log: { kind: 'pod', ownerId: 'p', grant: 'g' } })
    runtime.followOutput = () => new Promise(() => {})
    await want(withLog)
    await want({ ...withLog, desired: 'held' })
    expect(last(1)?.state).toBe('exited')
    runtime.followOutput = async (_id, _position, take) => take({ lines: [{ at: 6, line: 'last words' }], position: 1, lost: false })
    supervisor = open()
    await supervisor.adopt()
    await settle()
    const [segment] = readdirSync(join(dir, 'logs/p-1'))
      .filter((name) => name.endsWith('.jsonl'))
      .toReversed()
    const written = readFileSync(join(dir, 'logs/p-1', segment ?? ''), 'utf8')
    expect(written).toContain('last words')
    expect(written).toContain('"end":true')
    await want({ ...withLog, desired: 'held' })
    expect(said(1)).toEqual(['pulling', 'starting', 'running', 'exited'])
  })

  test('[HOST-61] interrupted during a takeover, after the start: the previous one is removed once the new one is adopted', async ({
    expect,
  }) => {
    await want(pod(1))
    await want(pod(1, { desired: 'held' }))
    // The container of the second one was started, and the agent died before it noted that.
    runtime.add('p-2', ['p-1'])
    supervisor = open()
    await supervisor.adopt()
    await want(pod(1, { desired: 'held' }), pod(2, { replaces: ['p-1'], keepDisk: true }))
    expect(runtime.calls.filter((call) => call.startsWith('start'))).toEqual(['start p-1'])
    expect(last(2)).toMatchObject({ state: 'running', at: 3 })
    expect([...runtime.workloads.keys()]).toEqual(['p-2'])
  })

  test('[HOST-61] interrupted between creation and start of the container: it begins anew, a worker does not', async ({ expect }) => {
    const starting = { sequence: 1, state: 'starting' as const, runtime: 'docker' as const }
    const records = new WorkloadRecords(join(dir, 'workloads'), 0)
    const worker = makeWorkload({ id: 'w', kind: 'worker', image: 'nginx' })
    for (const { id, kind } of [pod(1), worker]) {
      records.save({ ...newRecord(id, kind), ...starting })
      runtime.add(id)
      runtime.unstarted.add(id)
    }
    supervisor = open()
    await supervisor.adopt()
    runtime.unstarted.clear()
    await want(pod(1), worker)
    expect(runtime.calls).toEqual(['remove p-1', 'remove w', 'sweep', 'start p-1'])
    expect(last(1)?.state).toBe('running')
    expect(reports.findLast(({ workloadId }) => workloadId === 'w')?.state).toBe('error')
  })

  test('[HOST-61] interrupted before the creation of the container: it begins anew, a worker does not', async ({ expect }) => {
    const records = new WorkloadRecords(join(dir, 'workloads'), 0)
    const worker = makeWorkload({ id: 'w', kind: 'worker', image: 'nginx' })
    for (const { id, kind } of [pod(1), worker]) {
      records.save({ ...newRecord(id, kind), sequence: 1, state: 'starting', runtime: 'docker' })
    }
    supervisor = open()
    await supervisor.adopt()
    await want(pod(1), worker)
    expect(runtime.calls).toEqual(['sweep', 'start p-1'])
    expect(last(1)?.state).toBe('running')
    expect(reports.findLast(({ workloadId }) => workloadId === 'w')?.state).toBe('error')
  })

  test('[HOST-61] ended with its agent: a pod is kept, or removed on a revoked host; volumes stay', async ({ expect }) => {
    await want(pod(1))
    await supervisor.shutDown(1_000, 'the agent ended', 'keep')
    expect(last(1)).toMatchObject({ state: 'exited', reason: 'the agent ended' })
    expect([...runtime.workloads.keys()]).toEqual(['p-1'])
    supervisor = open()
    await supervisor.adopt()
    await supervisor.shutDown(1_000, 'revoked', 'remove')
    expect(last(1)?.state).toBe('gone')
    expect([...runtime.workloads.keys()]).toEqual([])
    expect(wiped).toEqual([])
  })
})
