import { openRecords } from '../../../src/db/client.ts'
import { findPodForHost } from '../../../src/db/pods/find-pods.ts'
import { desiredContainers } from '../../../src/domain/pod/workloads.ts'
import { loseHostOfPods, movePodsAway, returnHostOfPods } from '../../../src/effects/pods/pod-hosts.ts'
import { failPodStart } from '../../../src/effects/pods/pod-reports.ts'
import type { PodHost } from '../../../src/effects/pods/with-pod-intents.ts'
import { HOST_LEASE_MS, type Workload, type WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { Alarms } from '../../alarms.ts'
import type { Timers } from '../../clock/timers.ts'
import type { DesiredOverlays } from '../overlays.ts'
import { HostDeadlines } from './deadlines.ts'
import { HostIdleStops, type HostIdleStopsDeps } from './idle-stops.ts'
import { PodIntents } from './pod-intents.ts'
import { PodWaiters } from './pod-waiters.ts'
import { PodWorkloads, type PodWorkloadsDeps } from './pod-workloads.ts'

/** A request that recorded an intent has ended, or the platform has ended it, after this time. */
const INTENT_TTL_MS = 120_000
/** Delay before a pod with an intent record is synced without a request. */
const RECONCILE_AFTER_MS = 5_000
/** Interval of retries for pods that must leave this host and found no other. */
const MOVE_AGAIN_AFTER_MS = 10_000

/** Timers of the host object for pods. */
export const INTENTS_TIMER = 'pods'
export const MOVES_TIMER = 'moves'

export interface HostPodsDeps extends PodWorkloadsDeps {
  overlays: DesiredOverlays
  alarms: Alarms
  timers: Pick<Timers, 'after'>
  now(): number
  /** Time of the host's last beat, milliseconds since the epoch. */
  lastHeardMs(): number
  /** Time of the last beat of a host that is silent; null while it beats. */
  silentSinceMs(): number | null
  idle: HostIdleStopsDeps['idle']
}

/** The pods of one host: their desired state is derived from their rows in D1 (adr/0012). */
export class HostPods {
  private readonly deps: HostPodsDeps
  private readonly intents: PodIntents
  private readonly waiters: PodWaiters
  /** Syncs of one pod run one after the other, so that an older row is never applied after a newer one. */
  private readonly reconciling = new Map<string, Promise<void>>()
  /** Serializes the host's return with steps that treat it as lost; otherwise the effect of such a step would remain. */
  private turn: Promise<unknown> = Promise.resolve()
  private readonly deadlines: HostDeadlines
  private readonly idleStops: HostIdleStops
  private readonly workloads: PodWorkloads

  constructor(deps: HostPodsDeps) {
    this.deps = deps
    this.waiters = new PodWaiters(deps.timers)
    this.intents = new PodIntents(deps.storage.sql)
    this.deadlines = new HostDeadlines(deps)
    this.idleStops = new HostIdleStops(deps)
    this.workloads = new PodWorkloads(deps)
  }

  /** Announces a change of a pod's row. The caller requests a sync afterwards; if it crashes before, the timer does it. */
  async recordIntent(podId: string): Promise<void> {
    const nowMs = this.deps.now()
    this.intents.add(podId, nowMs)
    await this.deps.alarms.setBy(INTENTS_TIMER, nowMs + RECONCILE_AFTER_MS)
  }

  /** Removes an intent record whose row was not written, so that there is nothing to sync. */
  clearIntent(podId: string): void {
    this.intents.remove(podId)
  }

  /** Syncs a pod and removes the intent record that announced this. */
  async sync(hostId: string, podId: string): Promise<void> {
    await this.syncInTurn(hostId, podId)
    this.intents.remove(podId)
    this.waiters.wake(podId)
  }

  /** Resolves when a pod has changed since the call, at the latest after `timeoutMs`. */
  waitForChange(podId: string, timeoutMs: number): Promise<void> {
    return this.waiters.wait(podId, timeoutMs)
  }

  /**
   * Handles a report that became the pod's state. A container that ended must leave the desired state, or a host that lost its record would
   * start it again.
   */
  async reported(hostId: string, podId: string, state: WorkloadReport['state']): Promise<void> {
    if (state === 'exited' || state === 'error' || state === 'gone') await this.syncInTurn(hostId, podId)
    this.waiters.wake(podId)
    // A lost host that reports without a link may fall silent again, and would not be detected as lost a second time.
    const { alarms, now, lastHeardMs } = this.deps
    if (state === 'running' && now() - lastHeardMs() >= HOST_LEASE_MS) await alarms.setBy(MOVES_TIMER, now() + MOVE_AGAIN_AFTER_MS)
  }

  /** Syncs every pod with an intent record, whose writer may have crashed. A pod that cannot be synced keeps its record. */
  async syncPending(hostId: string): Promise<void> {
    for (const podId of this.intents.all()) {
      try {
        await this.syncInTurn(hostId, podId)
        this.intents.removeOlderThan(podId, this.deps.now() - INTENT_TTL_MS)
      } catch (error) {
        logEvent('error', 'a pod could not be reconciled', { hostId, podId, error })
      }
    }
    if (this.intents.all().length > 0) await this.deps.alarms.set(INTENTS_TIMER, this.deps.now() + RECONCILE_AFTER_MS)
  }

  /** Moves pods that must leave this host to hosts with capacity; retries as long as one of them finds none. */
  async moveAway(hostId: string): Promise<void> {
    const { env, alarms, now, lastHeardMs, silentSinceMs } = this.deps
    const heard = () => ({ lastHeardMs: lastHeardMs(), silentSinceMs: silentSinceMs() })
    const waiting = await this.inTurn(() => movePodsAway(env, this.here(hostId), heard()))
    if (waiting > 0) await alarms.set(MOVES_TIMER, now() + MOVE_AGAIN_AFTER_MS)
  }

  /** Stops or ends pods whose deadline has passed. */
  async checkDeadlines(hostId: string): Promise<void> {
    await this.deadlines.check(this.here(hostId))
  }

  /** Stops pods that have been idle for their idle limit (SPD-6). */
  async checkIdle(hostId: string): Promise<void> {
    await this.idleStops.check(this.here(hostId))
  }

  /** Applies the workloads that a returning host reports. */
  async returned(hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
    await this.inTurn(() => returnHostOfPods(this.deps.env, hostId, reports))
  }

  /**
   * Handles the removal of the host: pods that may run elsewhere move if there is capacity; the host's object handles the others
   * afterwards.
   */
  async leaveRemoved(hostId: string): Promise<void> {
    await this.inTurn(() => loseHostOfPods(this.deps.env, this.here(hostId), this.deps.lastHeardMs()))
  }

  private here(hostId: string): PodHost {
    return {
      hostId,
      recordIntent: async (podId) => {
        await this.recordIntent(podId)
        return { takesMore: true, silentSinceMs: this.deps.silentSinceMs() }
      },
      clearIntent: async (podId) => this.clearIntent(podId),
      sync: (podId) => this.sync(hostId, podId),
    }
  }

  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const next = this.turn.then(step, step)
    this.turn = next.catch(() => undefined)
    return next
  }

  // Reads a pod's row and applies it to the desired state. Idempotent.
  private async syncInTurn(hostId: string, podId: string): Promise<void> {
    const before = this.reconciling.get(podId) ?? Promise.resolve()
    const check = before.catch(() => undefined).then(() => this.reconcile(hostId, podId))
    this.reconciling.set(podId, check)
    try {
      await check
    } finally {
      if (this.reconciling.get(podId) === check) this.reconciling.delete(podId)
    }
  }

  private async reconcile(hostId: string, podId: string): Promise<void> {
    const row = await findPodForHost(openRecords(this.deps.env), podId)
    const pod = row?.hostId === hostId ? row : null
    if (pod) await this.deadlines.schedule(pod)
    if (pod) await this.idleStops.schedule(pod)
    const known = this.workloads.known(podId)
    const wanted: Workload[] = []
    for (const container of desiredContainers(pod, [...known.keys()])) {
      const made = await this.workloads.of(pod, podId, container, known)
      if (made?.ok) wanted.push(made.workload)
      // The row has changed: apply the new one.
      if (pod && made?.ok === false) {
        await failPodStart(this.deps.env, pod, made.reason)
        return this.reconcile(hostId, podId)
      }
    }
    // Before the workloads, so that the host never receives a workload without its networks.
    const isNetworked = pod?.clusterIp != null || pod?.globalIp != null || this.deps.overlays.has(podId)
    const hasNetworks = isNetworked && (await this.deps.overlays.refresh(hostId, true))
    if ((await this.workloads.setDesired(podId, wanted, known)) || hasNetworks) await this.deps.desired.broadcast()
    await this.workloads.releaseUnsent(hostId, podId, row, known)
  }
}
