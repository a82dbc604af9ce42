import { DurableObject } from 'cloudflare:workers'
import { saveInventory } from '../src/db/capacity.ts'
import { openDatabase } from '../src/db/client.ts'
import { setHostStatus } from '../src/db/enrolment.ts'
import type { Env } from '../src/env.ts'
import {
  AgentMessage,
  BEAT_INTERVAL_MS,
  HOST_LEASE_MS,
  type Inventory,
  type PlaneMessage,
  type Workload,
  type WorkloadReport,
  type WorkloadStats,
} from '../src/host-protocol/messages.ts'
import { logEvent } from '../src/log.ts'
import { announceCapacity } from '../src/services/capacity.ts'
import { Alarms } from './alarms.ts'
import { HostLinks, sendTo } from './host/links.ts'
import { PodWaiters } from './host/pod-waiters.ts'
import { HostPods } from './host/pods.ts'
import { HostReports } from './host/reports.ts'
import { HostStats } from './host/stats.ts'
import { HOST_SCHEMA, WorkloadStore } from './host/workload-store.ts'
import { applySchema } from './sql-migrations.ts'

/** A closed link gets this long to come back before the host counts as offline. */
const RECONNECT_GRACE_MS = 10_000
/** A host that misses this much is not given new work. */
const SUSPECT_AFTER_MS = 3 * BEAT_INTERVAL_MS
const ALARM_RETRY_MS = 5_000
/** A marked pod that nobody asked to be looked at is looked at after this. */
const POD_LOOK_AFTER_MS = 5_000
const MAX_MESSAGE_CHARS = 1_000_000

/** One GPU machine: the agent's link, what the machine should run, and what it said about it. No D1 write per beat. */
export class HostObject extends DurableObject<Env> {
  private readonly store: WorkloadStore
  private readonly links: HostLinks
  private readonly reports: HostReports
  private readonly pods: HostPods
  private readonly alarms: Alarms
  private readonly podWaiters = new PodWaiters()
  private readonly stats = new HostStats()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, HOST_SCHEMA)
    this.store = new WorkloadStore(ctx.storage.sql)
    this.links = new HostLinks(ctx)
    this.reports = new HostReports(ctx, env, this.store, (hostId, podId) => this.lookAtPod(hostId, podId))
    this.pods = new HostPods(ctx, env, this.store)
    this.alarms = new Alarms(ctx.storage)
  }

  /**
   * Says that a pod's row is about to change; to be followed by `syncPod`, and if the caller dies before, this object looks at the row by
   * itself. False when the host is suspect: a new pod had better go elsewhere.
   */
  async markPod(hostId: string, podId: string): Promise<boolean> {
    const nowMs = Date.now()
    this.store.setHostId(hostId)
    this.pods.marks.add(podId, nowMs)
    await this.alarms.setBy('pods', nowMs + POD_LOOK_AFTER_MS)
    return this.links.heardWithin(SUSPECT_AFTER_MS)
  }

  /** Puts in force what a pod's row says now. Repeating it changes nothing. */
  async syncPod(hostId: string, podId: string): Promise<void> {
    await this.lookAtPod(hostId, podId)
    this.pods.marks.remove(podId)
  }

  private async lookAtPod(hostId: string, podId: string): Promise<void> {
    if (await this.pods.sync(hostId, podId)) this.links.broadcast(this.desired())
    this.podWaiters.wake(podId)
  }

  /** Resolves when anything about a pod has changed since the call, at the latest after `timeoutMs`. */
  async podChanged(podId: string, timeoutMs: number): Promise<void> {
    await this.podWaiters.wait(podId, timeoutMs)
  }

  /** What containers use at the moment, as far as their agent has said lately. Kept in memory only. */
  async readStats(workloadIds: string[]): Promise<WorkloadStats[]> {
    return this.stats.read(workloadIds, Date.now())
  }

  /**
   * Makes the host run a workload. Repeating it changes nothing. False when the host is suspect (no beat for three intervals): it is still
   * online by its lease, but what is given to it now may have to wait for its return.
   */
  async assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean> {
    if (!this.store.get(workload.id)) {
      if (!this.links.heardWithin(SUSPECT_AFTER_MS)) return false
      this.ctx.storage.transactionSync(() => {
        this.store.setHostId(hostId)
        this.store.want(workload, ownerId)
      })
    }
    this.links.broadcast(this.desired())
    return true
  }

  /** Whether the host has been told to run this workload. */
  async knows(workloadId: string): Promise<boolean> {
    return this.store.get(workloadId) !== null
  }

  /** Makes the host stop a workload. False when it knows no such workload, so nothing of it can be running. */
  async stop(workloadId: string, graceMs: number): Promise<boolean> {
    const known = this.ctx.storage.transactionSync(() => {
      const row = this.store.get(workloadId)
      if (row && !(row.workload.desired === 'stopped' && row.workload.stopGraceMs <= graceMs)) {
        this.store.want({ ...row.workload, desired: 'stopped', stopGraceMs: graceMs }, row.ownerId)
      }
      return row !== null
    })
    if (known) this.links.broadcast(this.desired())
    return known
  }

  /** The enrolment was withdrawn: the agent stops everything and leaves, and owners stop waiting for what the machine held. */
  async revoke(hostId: string, reason: string): Promise<void> {
    this.store.setRevoked(reason)
    this.links.broadcast({ type: 'revoked', reason })
    this.links.closeAll(4001, 'revoked')
    await this.reports.giveUpAll(hostId)
  }

  /** Workload state changes, as `HostReports.passOn`. */
  async report(hostId: string, reports: WorkloadReport[]): Promise<void> {
    await this.reports.passOn(hostId, reports)
  }

  /** The agent's link; the Worker has checked the access token and passes the host's id. */
  override async fetch(request: Request): Promise<Response> {
    this.store.setHostId(request.headers.get('x-podplane-host') ?? '')
    const { agent, plane } = this.links.accept()
    this.sendIfRevoked(plane)
    return new Response(null, { status: 101, webSocket: agent })
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    const message = readMessage(data)
    if (!message) {
      socket.close(4002, 'message not understood')
      return
    }
    if (this.sendIfRevoked(socket)) return
    this.links.heard(socket)
    if (message.type === 'hello') return this.welcomeOrClose(socket, message.inventory)
    sendTo(socket, { type: 'beatAck', beat: message.beat })
    if (message.stats) this.stats.take(message.stats, Date.now())
    if (message.appliedRevision < this.store.revision()) sendTo(socket, this.desired())
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    // 1005 and 1006 say that no code came; they may not be sent.
    socket.close(code >= 1000 && code < 5000 && code !== 1005 && code !== 1006 ? code : 1000)
    await this.linkEnded()
  }

  override async webSocketError(): Promise<void> {
    await this.linkEnded()
  }

  /** While the host is online, looks once per lease whether it still beats. */
  override async alarm(): Promise<void> {
    for (const timer of this.alarms.due(Date.now())) {
      try {
        await (timer.name === 'pods' ? this.lookAtMarkedPods() : this.checkBeats())
        this.alarms.clear(timer)
      } catch (error) {
        // The platform gives up on an alarm that keeps failing; then nobody would ever notice that the host is gone.
        logEvent('error', 'host alarm failed', { hostId: this.store.hostId(), timer: timer.name, error })
        await this.alarms.set(timer.name, Date.now() + ALARM_RETRY_MS)
      }
    }
    await this.alarms.arm()
  }

  private async lookAtMarkedPods(): Promise<void> {
    const hostId = this.store.hostId()
    if (hostId !== null && (await this.pods.syncMarked(hostId, Date.now()))) this.links.broadcast(this.desired())
    // `setBy` would find the timer that rings now, and that one is about to be cleared.
    if (this.pods.marks.all().length > 0) await this.alarms.set('pods', Date.now() + POD_LOOK_AFTER_MS)
  }

  private async linkEnded(): Promise<void> {
    if (this.links.none()) await this.alarms.set('beats', Date.now() + RECONNECT_GRACE_MS)
  }

  private async checkBeats(): Promise<void> {
    if (this.links.heardWithin(HOST_LEASE_MS)) {
      await this.alarms.set('beats', Date.now() + HOST_LEASE_MS)
      return
    }
    this.links.closeAll(4003, 'no beat within the lease')
    const hostId = this.store.hostId()
    if (hostId === null) return
    await setHostStatus(openDatabase(this.env.DB), hostId, 'OFFLINE', Date.now())
    logEvent('warn', 'host offline', { hostId })
    await this.reports.giveUpNeverStarted()
  }

  // The runtime swallows what a socket handler throws; a closed link is seen by the agent, which tries again.
  private async welcomeOrClose(socket: WebSocket, inventory: Inventory): Promise<void> {
    try {
      await this.welcome(socket, inventory)
    } catch (error) {
      logEvent('error', 'host could not be welcomed', { hostId: this.store.hostId(), error })
      socket.close(4004, 'the plane could not take the inventory')
    }
  }

  private async welcome(socket: WebSocket, inventory: Inventory): Promise<void> {
    const hostId = this.store.hostId() ?? ''
    const db = openDatabase(this.env.DB)
    await saveInventory(db, hostId, inventory, Date.now())
    await setHostStatus(db, hostId, 'ONLINE', Date.now())
    await this.alarms.set('beats', Date.now() + HOST_LEASE_MS)
    sendTo(socket, this.desired())
    this.ctx.waitUntil(announceCapacity(this.env))
    logEvent('info', 'host online', { hostId })
  }

  private sendIfRevoked(socket: WebSocket): boolean {
    const reason = this.store.revoked()
    if (reason !== null) sendTo(socket, { type: 'revoked', reason })
    return reason !== null
  }

  private desired(): PlaneMessage {
    return { type: 'desired', revision: this.store.revision(), workloads: this.store.all().map((row) => row.workload) }
  }
}

function readMessage(data: string | ArrayBuffer): AgentMessage | null {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_CHARS) return null
  try {
    return AgentMessage.safeParse(JSON.parse(data)).data ?? null
  } catch {
    return null
  }
}
