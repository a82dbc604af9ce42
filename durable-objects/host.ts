import type { Series, Window } from '../src/domain/history/series.ts'
import { SUSPECT_AFTER_MS } from '../src/domain/host/presence.ts'
import { type Env, readSettings } from '../src/env.ts'
import type { Workload, WorkloadReport } from '../src/host-protocol/messages.ts'
import { hostOfLink } from '../src/objects/host-link.ts'
import { vaultOf } from '../src/platform/seal.ts'
import type { HostPresenceView, HostRpc, PodIntent, PodsOnHost } from '../src/rpc/host.ts'
import { Alarms } from './alarms.ts'
import { DesiredState } from './host/desired-state.ts'
import { HostGpuHealth } from './host/gpu-health.ts'
import { HostHistory } from './host/history/history.ts'
import { Housekeeping } from './host/housekeeping.ts'
import { spendAssertion } from './host/link/assertions.ts'
import { HostConversation } from './host/link/conversation.ts'
import { HostLinkReplacements } from './host/link/link-replacements.ts'
import { HostLinks, isGreeted, lastBeat } from './host/links.ts'
import { DesiredOverlays } from './host/overlays.ts'
import { HostPods } from './host/pods/pods.ts'
import { HostPresence } from './host/presence.ts'
import { PullLogins } from './host/pull-logins.ts'
import { HostRemoval } from './host/removal.ts'
import { HostReports } from './host/reports.ts'
import { HostSilence } from './host/silence.ts'
import { HostStats } from './host/stats.ts'
import { HostTimers } from './host/timers.ts'
import { HOST_SCHEMA, WorkloadStore } from './host/workload-store.ts'
import { closeBack, PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

/** One GPU host: the agent's link, the host's desired state and its reports. A beat costs no D1 write. */
export class HostObject extends PlaneObject implements HostRpc {
  private readonly store: WorkloadStore
  readonly links: HostLinks
  private readonly reports: HostReports
  private readonly presenceOf: HostPresence
  private readonly gpuHealth: HostGpuHealth
  private readonly pods: HostPods
  private readonly removal: HostRemoval
  private readonly silence: HostSilence
  private readonly due: HostTimers
  private readonly conversation: HostConversation
  private readonly desired: DesiredState
  private readonly logins: PullLogins
  private readonly overlays: DesiredOverlays
  private readonly replacements: HostLinkReplacements
  private readonly stats = new HostStats()
  private readonly history: HostHistory
  /** Milliseconds since the epoch; tests replace the clock. */
  now: () => number = () => this.timers.readClock()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, HOST_SCHEMA)
    this.store = new WorkloadStore(ctx.storage.sql, vaultOf(env), ctx.id.toString())
    this.history = new HostHistory(ctx.storage)
    const now = () => this.now()
    const alarms = new Alarms(ctx.storage, this.timers, (stepMs) => this.presenceOf.move(stepMs))
    this.links = new HostLinks(ctx, now)
    this.replacements = new HostLinkReplacements(this.store, now)
    this.presenceOf = new HostPresence(env, this.store, this.links, alarms, now, (hostId) => this.pods.moveAway(hostId))
    this.gpuHealth = new HostGpuHealth(env, this.store)
    this.logins = new PullLogins(vaultOf(env), ctx.id.toString())
    const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise)
    this.overlays = new DesiredOverlays({ env, store: this.store, alarms, now, waitUntil })
    const networks = () => this.overlays.current()
    this.desired = new DesiredState(this.store, this.links, this.logins, networks, readSettings(env).hostSilenceMaxMs)
    const lastHeardMs = () => this.presenceOf.view()?.lastBeatAtMs ?? this.now()
    const silentSinceMs = () => this.presenceOf.silentSinceMs()
    const idle = (ids: readonly string[]) =>
      new Map((silentSinceMs() === null ? this.history.idle(ids, this.now()) : []).map(({ id, sinceMs }) => [id, sinceMs]))
    const { store, links, desired, overlays } = this
    this.silence = new HostSilence({ env, store, alarms, now, silentSinceMs })
    this.pods = new HostPods({
      storage: ctx.storage,
      env,
      store,
      desired,
      overlays,
      alarms,
      timers: this.timers,
      now,
      lastHeardMs,
      silentSinceMs,
      idle,
    })
    this.reports = new HostReports(ctx, env, store, { podReported: (...reported) => this.pods.reported(...reported), silentSinceMs })
    const { pods, reports, silence, gpuHealth, replacements, presenceOf: presence } = this
    this.removal = new HostRemoval({ env, store, links, pods, reports, history: this.history, alarms, now, lastHeardMs })
    const housekeeping = new Housekeeping({ env, store, alarms, now })
    this.due = new HostTimers({
      store,
      alarms,
      presence,
      gpuHealth,
      silence,
      pods,
      removal: this.removal,
      housekeeping,
      overlays,
      desired,
      now,
    })
    this.conversation = new HostConversation({
      env,
      store,
      links,
      replacements,
      presence,
      silence,
      pods,
      desired,
      overlays,
      housekeeping,
      gpuHealth,
      stats: this.stats,
      history: this.history,
      now,
      waitUntil,
    })
  }

  async recordPodIntent(hostId: string, podId: string): Promise<PodIntent> {
    this.store.setHostId(hostId)
    await this.silence.exclude(hostId)
    await this.pods.recordIntent(podId)
    return { takesMore: this.takesMore(), silentSinceMs: this.presenceOf.silentSinceMs() }
  }

  async clearPodIntent(podId: string): Promise<void> {
    this.pods.clearIntent(podId)
  }

  async syncPod(hostId: string, podId: string): Promise<void> {
    await this.pods.sync(hostId, podId)
  }

  async overlaysChanged(hostId: string): Promise<void> {
    this.store.setHostId(hostId)
    if (await this.overlays.refresh(hostId, false)) await this.desired.broadcast()
  }

  async waitForPodChange(podId: string, timeoutMs: number): Promise<void> {
    await this.pods.waitForChange(podId, timeoutMs)
  }

  async movePods(hostId: string): Promise<void> {
    await this.pods.moveAway(hostId)
  }

  async readPods(workloadIds: string[]): Promise<PodsOnHost> {
    const [nowMs, silentSinceMs] = [this.now(), this.presenceOf.silentSinceMs()]
    return { silentSinceMs, stats: this.stats.read(workloadIds, nowMs), idle: this.history.idle(workloadIds, nowMs) }
  }

  async readHistory(track: string, window: Window): Promise<Series[]> {
    return this.history.read(track, window)
  }

  async assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean> {
    if (!this.store.get(workload.id)) {
      if (!this.takesMore()) return false
      this.store.setHostId(hostId)
      await this.desired.setWorkload(this.ctx.storage, workload, ownerId)
    }
    await this.desired.broadcast()
    return true
  }

  async knows(workloadId: string): Promise<boolean> {
    return this.store.get(workloadId) !== null
  }

  async stop(workloadId: string, graceMs: number): Promise<boolean> {
    const known = this.ctx.storage.transactionSync(() => {
      const row = this.store.get(workloadId)
      if (row && !(row.workload.desired === 'stopped' && row.workload.stopGraceMs <= graceMs)) {
        this.store.setWorkload({ ...row.workload, desired: 'stopped', stopGraceMs: graceMs }, row.ownerId)
      }
      return row !== null
    })
    if (known) await this.desired.broadcast()
    return known
  }

  private takesMore(): boolean {
    return this.links.heardWithin(SUSPECT_AFTER_MS) && this.desired.hasRoom()
  }

  async presence(): Promise<HostPresenceView | null> {
    const view = this.presenceOf.view()
    return (
      view && { ...view, oversize: this.desired.isOversize(), replacements: this.replacements.view(), transports: this.stats.transports }
    )
  }

  async spendAssertion(jti: string): Promise<'good' | 'used' | 'too many'> {
    return spendAssertion(this.ctx.storage.sql, jti, this.now())
  }

  async expectRemoval(hostId: string): Promise<void> {
    this.store.setHostId(hostId)
    await this.removal.expect()
  }

  async revoke(hostId: string): Promise<void> {
    this.store.setHostId(hostId)
    await this.removal.revoke(hostId)
  }

  async report(hostId: string, reports: WorkloadReport[]): Promise<void> {
    await this.silence.exclude(hostId)
    await this.reports.passOn(hostId, reports)
  }

  /** Reseals all rows under the current master secret. Throws when rows cannot be opened, after it has resealed the others. */
  async reseal(): Promise<void> {
    const failed = this.ctx.storage.transactionSync(() => this.store.reseal((row) => this.logins.reseal(row)))
    if (failed.length > 0) throw new Error(`workloads that cannot be opened: ${failed.join(', ')}`)
  }

  /** Accepts the agent's link; the Worker has checked the access token. */
  override async fetch(request: Request): Promise<Response> {
    this.store.setHostId(hostOfLink(request))
    await this.silence.ends()
    const { agent, plane } = this.links.accept(request)
    this.conversation.sendIfRevoked(plane)
    return new Response(null, { status: 101, webSocket: agent })
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    await this.conversation.hear(socket, data)
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.desired.linkClosed(code)
    closeBack(socket, code)
    await this.linkEnded(socket)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.linkEnded(socket)
  }

  private async linkEnded(socket: WebSocket): Promise<void> {
    if (!isGreeted(socket)) return
    this.history.save()
    await this.presenceOf.linkEnded(lastBeat(socket))
  }

  /** Handles due timers, such as the check that the host still beats. */
  override async alarm(): Promise<void> {
    await this.due.ring()
  }
}
