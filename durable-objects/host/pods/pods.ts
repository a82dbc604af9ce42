import { openRecords } from '../../../src/db/client.ts'
import { findPodForHost } from '../../../src/db/pods/find-pods.ts'
import { desiredContainers } from '../../../src/domain/pod/workloads.ts'
import type { PodHost } from '../../../src/effects/pods/marked-pod.ts'
import { loseHostOfPods, movePodsAway, returnHostOfPods } from '../../../src/effects/pods/pod-hosts.ts'
import { failPodStart } from '../../../src/effects/pods/pod-reports.ts'
import { HOST_LEASE_MS, type Workload, type WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { Alarms } from '../../alarms.ts'
import type { Timers } from '../../clock/timers.ts'
import type { HostOverlays } from '../overlays.ts'
import { HostDeadlines } from './deadlines.ts'
import { HostIdleStops, type HostIdleStopsDeps } from './idle-stops.ts'
import { PodMarks } from './pod-marks.ts'
import { PodWaiters } from './pod-waiters.ts'
import { PodWorkloads, type PodWorkloadsDeps } from './pod-workloads.ts'

/** A request that marked a pod has ended, or was ended by the platform, after this. */
const MARK_TTL_MS = 120_000
/** A marked pod that nobody asked to be looked at is looked at after this. */
const LOOK_AFTER_MS = 5_000
/** Pods that are to leave this host and found no other try again after this. */
const MOVE_AGAIN_AFTER_MS = 10_000

/** Timers of the host object that are about pods. */
export const MARKS_TIMER = 'pods'
export const MOVES_TIMER = 'moves'

export interface HostPodsDeps extends PodWorkloadsDeps {
  overlays: HostOverlays
  alarms: Alarms
  timers: Pick<Timers, 'after'>
  now(): number
  /** When the host was last heard of, milliseconds since the epoch. */
  lastHeardMs(): number
  /** The same of a host that is silent now; null while it is heard of. */
  silentSinceMs(): number | null
  idle: HostIdleStopsDeps['idle']
}

/** The pods of one host: what it is to run for them is derived from their rows in D1 (adr/0012). */
export class HostPods {
  private readonly deps: HostPodsDeps
  private readonly marks: PodMarks
  private readonly waiters: PodWaiters
  /** Looks at one pod follow one another, so that an older row is never put in force after a newer one. */
  private readonly looking = new Map<string, Promise<void>>()
  /** The host's return waits until a look that takes it for lost is over, or what that look did would stay. */
  private coming: Promise<unknown> = Promise.resolve()
  private readonly deadlines: HostDeadlines
  private readonly idleStops: HostIdleStops
  private readonly workloads: PodWorkloads

  constructor(deps: HostPodsDeps) {
    this.deps = deps
    this.waiters = new PodWaiters(deps.timers)
    this.marks = new PodMarks(deps.storage.sql)
    this.deadlines = new HostDeadlines(deps)
    this.idleStops = new HostIdleStops(deps)
    this.workloads = new PodWorkloads(deps)
  }

  /** A pod's row is about to change; whoever says so asks for a look afterwards, and if he dies before, the timer looks. */
  async mark(podId: string): Promise<void> {
    const nowMs = this.deps.now()
    this.marks.add(podId, nowMs)
    await this.deps.alarms.setBy(MARKS_TIMER, nowMs + LOOK_AFTER_MS)
  }

  /** Takes a mark back: the row was not written, so there is nothing to look at. */
  unmark(podId: string): void {
    this.marks.remove(podId)
  }

  /** The look that was promised with a mark. */
  async settle(hostId: string, podId: string): Promise<void> {
    await this.sync(hostId, podId)
    this.marks.remove(podId)
    this.waiters.wake(podId)
  }

  /** Resolves when anything about a pod has changed since the call, at the latest after `timeoutMs`. */
  waitForChange(podId: string, timeoutMs: number): Promise<void> {
    return this.waiters.wait(podId, timeoutMs)
  }

  /** A report became the pod's state. A container that ended must not be wanted any more, or a machine that forgot it would start it anew. */
  async reported(hostId: string, podId: string, state: WorkloadReport['state']): Promise<void> {
    if (state === 'exited' || state === 'error' || state === 'gone') await this.sync(hostId, podId)
    this.waiters.wake(podId)
    // A host that is lost and says this without a link may fall silent again, and nobody would take it for lost a second time.
    const { alarms, now, lastHeardMs } = this.deps
    if (state === 'running' && now() - lastHeardMs() >= HOST_LEASE_MS) await alarms.setBy(MOVES_TIMER, now() + MOVE_AGAIN_AFTER_MS)
  }

  /** Looks at every pod that somebody marked and may have died over. One that cannot be looked at keeps its mark and holds up no other. */
  async lookAtMarked(hostId: string): Promise<void> {
    for (const podId of this.marks.all()) {
      try {
        await this.sync(hostId, podId)
        this.marks.removeOlderThan(podId, this.deps.now() - MARK_TTL_MS)
      } catch (error) {
        logEvent('error', 'a pod could not be looked at', { hostId, podId, error })
      }
    }
    if (this.marks.all().length > 0) await this.deps.alarms.set(MARKS_TIMER, this.deps.now() + LOOK_AFTER_MS)
  }

  /** Pods that are to leave this host go where there is room; as long as one finds none, it is tried again. */
  async moveAway(hostId: string): Promise<void> {
    const { env, alarms, now, lastHeardMs, silentSinceMs } = this.deps
    const heard = () => ({ lastHeardMs: lastHeardMs(), silentSinceMs: silentSinceMs() })
    const waiting = await this.inTurn(() => movePodsAway(env, this.here(hostId), heard()))
    if (waiting > 0) await alarms.set(MOVES_TIMER, now() + MOVE_AGAIN_AFTER_MS)
  }

  /** Pods whose time to stop or to end has come. */
  async lookAtDeadlines(hostId: string): Promise<void> {
    await this.deadlines.look(this.here(hostId))
  }

  /** Stops pods that have done nothing for as long as they may (SPD-6). */
  async lookAtIdle(hostId: string): Promise<void> {
    await this.idleStops.look(this.here(hostId))
  }

  /** The host is back, and says what it has. */
  async returned(hostId: string, reports: readonly WorkloadReport[]): Promise<void> {
    await this.inTurn(() => returnHostOfPods(this.deps.env, hostId, reports))
  }

  /** The host is removed: pods that may run elsewhere go there, if there is room; of all others the host's object knows afterwards. */
  async leaveRemoved(hostId: string): Promise<void> {
    await this.inTurn(() => loseHostOfPods(this.deps.env, this.here(hostId), this.deps.lastHeardMs()))
  }

  private here(hostId: string): PodHost {
    return {
      hostId,
      mark: async (podId) => {
        await this.mark(podId)
        return { takesMore: true, silentSinceMs: this.deps.silentSinceMs() }
      },
      unmark: async (podId) => this.unmark(podId),
      sync: (podId) => this.settle(hostId, podId),
    }
  }

  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const next = this.coming.then(step, step)
    this.coming = next.catch(() => undefined)
    return next
  }

  // Reads a pod's row and puts in force what it says. Repeating it changes nothing.
  private async sync(hostId: string, podId: string): Promise<void> {
    const before = this.looking.get(podId) ?? Promise.resolve()
    const look = before.catch(() => undefined).then(() => this.look(hostId, podId))
    this.looking.set(podId, look)
    try {
      await look
    } finally {
      if (this.looking.get(podId) === look) this.looking.delete(podId)
    }
  }

  private async look(hostId: string, podId: string): Promise<void> {
    const row = await findPodForHost(openRecords(this.deps.env), podId)
    const pod = row?.hostId === hostId ? row : null
    if (pod) await this.deadlines.expect(pod)
    if (pod) await this.idleStops.expect(pod)
    const known = this.workloads.known(podId)
    const wanted: Workload[] = []
    for (const container of desiredContainers(pod, [...known.keys()])) {
      const made = await this.workloads.of(pod, podId, container, known)
      if (made?.ok) wanted.push(made.workload)
      // The row says so now: look at that.
      if (pod && made?.ok === false) {
        await failPodStart(this.deps.env, pod, made.reason)
        return this.look(hostId, podId)
      }
    }
    // First, so that no workload is told of without its networks.
    const isNetworked = pod?.clusterIp != null || pod?.globalIp != null || this.deps.overlays.has(podId)
    const hasNetworks = isNetworked && (await this.deps.overlays.refresh(hostId, true))
    if ((await this.workloads.want(podId, wanted, known)) || hasNetworks) await this.deps.desired.broadcast()
    await this.workloads.returnUnused(hostId, podId, row, known)
  }
}
