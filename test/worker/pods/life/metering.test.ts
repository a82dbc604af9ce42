import fc from 'fast-check'
import type { PodAction } from '../../../../src/contract/enums.ts'
import { openRecords } from '../../../../src/db/client.ts'
import { updatePod } from '../../../../src/db/pods/pods.ts'
import { actionsOf, decideAction, decideHostLost, decideReport } from '../../../../src/domain/pod/pod.ts'
import { excuseSilence } from '../../../../src/effects/pods/pod-hosts.ts'
import { applyPodReport, changePodRow, isDown } from '../../../../src/effects/pods/pod-reports.ts'
import { transitPod } from '../../../../src/effects/pods/pod-transitions.ts'
import type { Env } from '../../../../src/env.ts'
import type { Workload } from '../../../../src/host-protocol/messages.ts'
import { type PodFact, PodOracle } from '../../../model/pod-oracle.ts'
import { afterEach, beforeEach, describe, env, evictDurableObject, expect, it, runInDurableObject, vi } from '../../../support/harness.ts'
import { FakeHost } from '../../../support/hosts/fake-host.ts'
import { freeGpus, gpus } from '../../../support/hosts/gpus.ts'
import { BY_TEST, placed, readPod } from '../../../support/pods/pods.ts'
import { hostStub } from '../../../support/runner/stubs.ts'

const SKEW_MS = 300_000
const HISTORIES = 6
const TIME_PER_HISTORY_MS = 20_000
type Said = 'pulling' | 'starting' | 'running' | 'exited' | 'error' | 'gone'

/** Usage rows of a pod, oldest first. */
async function usageOf(podId: string): Promise<{ startedAtMs: number; endedAtMs: number }[]> {
  const query = 'SELECT started_at AS startedAtMs, ended_at AS endedAtMs FROM usage WHERE workload_id = ? ORDER BY sequence'
  return (await env.DB.prepare(query).bind(podId).all<{ startedAtMs: number; endedAtMs: number }>()).results
}

/** A D1 that commits the next batch and then loses the reply. */
function losingAnswers(real: Env): Env {
  const DB = new Proxy(real.DB, {
    get(target, name) {
      if (name !== 'batch') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)
      return async (statements: D1PreparedStatement[]) => {
        await target.batch(statements)
        throw new Error('the answer was lost')
      }
    },
  })
  return { ...real, DB }
}

/** The clock of the plane stands still between operations, so that the oracle knows every time. */
let nowMs = 0
beforeEach(() => {
  nowMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs })
})
let host: FakeHost
beforeEach(async () => {
  host = await FakeHost.join(gpus())
})
afterEach(() => {
  host.leave()
  vi.useRealTimers()
})

function pass(ms: number): void {
  nowMs += ms
  vi.setSystemTime(nowMs)
}

/** A real pod on a real host object, and the state that the oracle expects. */
class MeteredPod {
  readonly oracle: PodOracle
  private readonly host: FakeHost
  readonly id: string
  private last: { container: number; what: Said; at: number } | null = null
  private readonly down = new Set<string>()
  private readonly sequences = new Map<string, number>()

  private constructor(host: FakeHost, id: string, createdAtMs: number) {
    this.host = host
    this.id = id
    this.oracle = new PodOracle(createdAtMs)
  }

  static async create(host: FakeHost): Promise<MeteredPod> {
    const id = await placed(host)
    return new MeteredPod(host, id, nowMs)
  }

  async act(action: PodAction, isAnswerLost: boolean): Promise<void> {
    this.oracle.tell({ kind: 'asked', action, told: nowMs })
    const pod = await readPod(this.id)
    const outcome = decideAction(pod, action, nowMs)
    if (!outcome.ok) return
    if (!isAnswerLost) {
      expect(await transitPod(env, pod, outcome.change, BY_TEST)).toBe('done')
      return
    }
    // The caller repeats the change with the version that it has read.
    await expect(transitPod(losingAnswers(env), pod, outcome.change, BY_TEST)).rejects.toThrow()
    expect(await transitPod(env, pod, outcome.change, BY_TEST)).not.toBe('done')
  }

  async say(what: Said, skewMs: number, isAnswerLost: boolean): Promise<void> {
    const container = this.oracle.containers.length
    // An agent never reports that an ended container runs again.
    if (!isDown(what) && this.down.has(`${this.id}-${container}`)) return
    this.last = { container, what, at: nowMs + skewMs }
    this.oracle.tell({ kind: 'said', ...this.last, told: nowMs })
    await this.report(`${this.id}-${container}`, what, nowMs + skewMs, isAnswerLost)
  }

  private async report(workloadId: string, state: Said, at: number, isAnswerLost = false): Promise<void> {
    const sequence = (this.sequences.get(workloadId) ?? 0) + 1
    this.sequences.set(workloadId, sequence)
    if (isDown(state)) this.down.add(workloadId)
    const report = { workloadId, state, exitCode: null, reason: null, at, sequence }
    const source = { hostId: this.host.id, podId: this.id, isLast: false, areOthersDown: false, silentSinceMs: null }
    // The batch is committed and its reply lost: the host object does not confirm the report, so its agent repeats it.
    if (isAnswerLost) await applyPodReport(losingAnswers(env), source, report).catch(() => {})
    await hostStub(env, this.host.id).report(this.host.id, [report])
    // The reply to the agent is lost, so the agent repeats its report.
    if (isAnswerLost) await hostStub(env, this.host.id).report(this.host.id, [report])
  }

  /** Repeats the last report under a new sequence number, as an agent does that has lost its memory. */
  /** Ends a container of an earlier generation, which the agent stops in its own time. */
  async endPrevious(): Promise<void> {
    const present = `${this.id}-${this.oracle.containers.length}`
    const previous = (await this.workloads()).find(({ id }) => id !== present && !this.down.has(id))
    if (previous) await this.report(previous.id, 'exited', nowMs)
  }

  async sayAgain(): Promise<void> {
    if (!this.last) return
    this.oracle.tell({ kind: 'said', ...this.last, told: nowMs } as PodFact)
    const { container, what, at } = this.last
    await this.report(`${this.id}-${container}`, what, at)
  }

  async loseHost(): Promise<void> {
    const lastHeard = nowMs - 20
    this.oracle.tell({ kind: 'lost', lastHeard, told: nowMs })
    await changePodRow(
      openRecords(env),
      this.id,
      (pod) => decideHostLost(pod, 'its host is silent', lastHeard, nowMs),
      () => null,
      async () => {},
    )
  }

  async hearHostAgain(): Promise<void> {
    const lastHeard = nowMs - 20
    this.oracle.tell({ kind: 'heard again', lastHeard, told: nowMs })
    await excuseSilence(env, this.host.id, { fromMs: lastHeard, toMs: nowMs })
  }

  async evictHost(): Promise<void> {
    await runInDurableObject(hostStub(env, this.host.id), () => {})
    await evictDurableObject(hostStub(env, this.host.id))
  }

  async compare(): Promise<void> {
    const pod = await readPod(this.id)
    expect(pod.status).toBe(this.oracle.status)
    expect(actionsOf(pod)).toEqual(this.oracle.actions)
    expect(pod.generation).toBe(this.oracle.containers.length)
    expect([pod.startedAtMs, pod.chargedFromMs]).toEqual([this.oracle.runningSince, this.oracle.chargedSince])
    expect(await usageOf(this.id)).toEqual(this.oracle.charged)
    await this.expectOneContainer()
    await this.expectComputeHeld()
  }

  /** POD-14: a pod that is not to run holds its GPU until all its containers are down, and not longer. */
  private async expectComputeHeld(): Promise<void> {
    const up = (await this.workloads()).filter(({ id }) => !this.down.has(id))
    expect(await freeGpus(this.host.id)).toBe(this.oracle.isWanted || up.length > 0 ? 0 : 1)
  }

  /** P7, checked in the desired state of the host. */
  private async expectOneContainer(): Promise<void> {
    const running = (await this.workloads()).filter(({ desired }) => desired === 'running').map(({ id }) => id)
    expect(running).toEqual(this.oracle.isWanted ? [`${this.id}-${this.oracle.containers.length}`] : [])
  }

  /** Terminates the pod, and its host removes all containers. */
  async end(): Promise<void> {
    await this.act('terminate', false)
    for (const { id } of await this.workloads()) await this.report(id, 'gone', nowMs)
    await this.compare()
    expect(await this.workloads()).toEqual([])
    expect(await freeGpus(this.host.id)).toBe(1)
    expect((await env.DB.prepare('SELECT id FROM allocations WHERE owner_id = ?').bind(this.id).all()).results).toEqual([])
  }

  private async workloads(): Promise<Workload[]> {
    const rows = await runInDurableObject(hostStub(env, this.host.id), (_, state) =>
      state.storage.sql.exec('SELECT spec FROM workloads WHERE owner_id = ?', this.id).toArray(),
    )
    return rows.map(({ spec }) => JSON.parse(String(spec)) as Workload)
  }
}

const passMs = fc.integer({ min: 0, max: 50 })
const skewMs = fc.oneof(fc.constant(0), fc.integer({ min: -40, max: 0 }), fc.integer({ min: -SKEW_MS, max: SKEW_MS }))
const isAnswerLost = fc.integer({ min: 0, max: 3 }).map((n) => n === 0)
const what = fc.oneof(
  { weight: 3, arbitrary: fc.constant('running' as const) },
  fc.constantFrom('pulling' as const, 'starting' as const, 'exited' as const, 'error' as const, 'gone' as const),
)
const action = fc.constantFrom('start' as const, 'stop' as const, 'restart' as const)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('act' as const), passMs, action, isAnswerLost }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('say' as const), passMs, what, skewMs, isAnswerLost }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('again' as const, 'former' as const, 'evict' as const, 'lose' as const, 'hear' as const),
      passMs,
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function play(pod: MeteredPod, next: Step): Promise<void> {
  pass(next.passMs)
  switch (next.kind) {
    case 'act':
      return pod.act(next.action, next.isAnswerLost)
    case 'say':
      return pod.say(next.what, next.skewMs, next.isAnswerLost)
    case 'again':
      return pod.sayAgain()
    case 'former':
      return pod.endPrevious()
    case 'evict':
      return pod.evictHost()
    case 'lose':
      return pod.loseHost()
    case 'hear':
      return pod.hearHostAgain()
  }
}

describe('usage', () => {
  it('[POD-19, P8, POD-74] every RUNNING interval is one row, through evictions, lost replies, repeats and wrong clocks', {
    timeout: HISTORIES * TIME_PER_HISTORY_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const pod = await MeteredPod.create(host)
        for (const next of steps) {
          await play(pod, next)
          await pod.compare()
        }
        await pod.end()
      }),
      { numRuns: HISTORIES, endOnFailure: true },
    )
  })

  it('[POD-74] a row contains what was running and at what price; the open interval has no row', async () => {
    const pod = await MeteredPod.create(host)
    pass(10)
    await pod.say('running', 0, false)
    expect(await usageOf(pod.id)).toEqual([])
    pass(90_061)
    await pod.act('stop', false)
    const row = await env.DB.prepare('SELECT * FROM usage WHERE workload_id = ?').bind(pod.id).first()
    const { teamId, version } = await readPod(pod.id)
    expect(row).toEqual({
      workload_id: pod.id,
      sequence: version,
      kind: 'POD',
      resource_id: pod.id,
      team_id: teamId,
      started_at: nowMs - 90_061,
      ended_at: nowMs,
      cloud: 'SECURE',
      gpu_type_id: 'NVIDIA L4',
      gpu_count: 1,
      vcpus: 4_096,
      disk_gb: 10,
      volume_type: null,
      gpu_nanos_per_hour: 440_000_000,
      cpu_nanos_per_hour: 0,
      disk_nanos_per_hour: 0,
      gpu_micros: 11_007,
      cpu_micros: 0,
      disk_micros: 0,
    })
  })

  it('[POD-74] of two writes that end the same interval, one succeeds', async () => {
    const pod = await MeteredPod.create(host)
    await pod.say('running', 0, false)
    const row = await readPod(pod.id)
    pass(5)
    const stop = decideAction(row, 'stop', nowMs)
    const exit = decideReport(row, { generation: 1, state: 'exited', reason: null, atMs: nowMs }, nowMs)
    if (!stop.ok || !exit) throw new Error('both are possible')
    const db = openRecords(env)
    const outcomes = await Promise.all([
      updatePod(db, row, stop.change.pod, stop.change.usage),
      updatePod(db, row, exit.pod, exit.usage),
      updatePod(db, row, stop.change.pod, stop.change.usage),
    ])
    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect(await usageOf(pod.id)).toEqual([{ startedAtMs: nowMs - 5, endedAtMs: nowMs }])
  })
})
