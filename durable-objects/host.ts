import { openDatabase } from '../src/db/client.ts'
import { saveInventory } from '../src/db/hosts/capacity.ts'
import { SUSPECT_AFTER_MS } from '../src/domain/host/presence.ts'
import { announceCapacity } from '../src/effects/capacity.ts'
import { type Env, readSettings } from '../src/env.ts'
import type { AgentMessage, Workload, WorkloadReport } from '../src/host-protocol/messages.ts'
import type { HostPresenceView, HostRpc, PodMark, PodsOnHost } from '../src/objects/host.ts'
import { hostOfLink } from '../src/objects/host-link.ts'
import { logEvent } from '../src/platform/log.ts'
import { vaultOf } from '../src/platform/seal.ts'
import { Alarms } from './alarms.ts'
import { spendAssertion } from './host/assertions.ts'
import { DesiredState } from './host/desired-state.ts'
import { HostGpuHealth } from './host/gpu-health.ts'
import { HostLinkReplacements } from './host/link-replacements.ts'
import { HostLinks, isGreeted, lastBeat, readMessage, sendTo } from './host/links.ts'
import { HostPods, MARKS_TIMER, MOVES_TIMER } from './host/pods.ts'
import { HostPresence, PRESENCE_TIMER } from './host/presence.ts'
import { PullLogins } from './host/pull-logins.ts'
import { HostRemoval, REMOVAL_TIMER } from './host/removal.ts'
import { HostReports } from './host/reports.ts'
import { HostSilence, SILENCE_TIMER } from './host/silence.ts'
import { HostStats } from './host/stats.ts'
import { HOST_SCHEMA, WorkloadStore } from './host/workload-store.ts'
import { PlaneObject } from './plane-object.ts'
import { applySchema } from './sql-migrations.ts'

const ALARM_RETRY_MS = 5_000

type Hello = Extract<AgentMessage, { type: 'hello' }>

/** One GPU machine: the agent's link, what the machine should run, and what it said about it. No D1 write per beat. */
export class HostObject extends PlaneObject implements HostRpc {
  private readonly store: WorkloadStore
  readonly links: HostLinks
  private readonly reports: HostReports
  private readonly presenceOf: HostPresence
  private readonly gpuHealth: HostGpuHealth
  private readonly pods: HostPods
  private readonly removal: HostRemoval
  private readonly silence: HostSilence
  private readonly alarms: Alarms
  private readonly desired: DesiredState
  private readonly logins: PullLogins
  private readonly replacements: HostLinkReplacements
  private readonly stats = new HostStats()
  /** Milliseconds since the epoch; tests set their own clock. */
  now: () => number = () => Date.now()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, HOST_SCHEMA)
    this.store = new WorkloadStore(ctx.storage.sql, vaultOf(env), ctx.id.toString())
    const now = () => this.now()
    this.alarms = new Alarms(ctx.storage)
    this.links = new HostLinks(ctx, now)
    this.replacements = new HostLinkReplacements(this.store, now)
    this.presenceOf = new HostPresence(env, this.store, this.links, this.alarms, now, (hostId) => this.pods.moveAway(hostId))
    this.gpuHealth = new HostGpuHealth(env, this.store)
    this.logins = new PullLogins(vaultOf(env), ctx.id.toString())
    this.desired = new DesiredState(this.store, this.links, this.logins, readSettings(env).hostSilenceMaxMs)
    const lastHeardMs = () => this.presenceOf.view()?.lastBeatAtMs ?? this.now()
    const silentSinceMs = () => this.presenceOf.silentSinceMs()
    const { store, links, alarms, desired } = this
    this.silence = new HostSilence({ env, store, alarms, now, silentSinceMs })
    this.pods = new HostPods({ storage: ctx.storage, env, store, desired, alarms, now, lastHeardMs, silentSinceMs })
    this.reports = new HostReports(ctx, env, store, { podChanged: (...reported) => this.pods.reported(...reported), silentSinceMs })
    const { pods, reports } = this
    this.removal = new HostRemoval({ env, store, links, pods, reports, alarms, now, lastHeardMs })
  }

  async markPod(hostId: string, podId: string): Promise<PodMark> {
    this.store.setHostId(hostId)
    await this.silence.settle(hostId)
    await this.pods.mark(podId)
    return { takesMore: this.takesMore(), silentSinceMs: this.presenceOf.silentSinceMs() }
  }

  async unmarkPod(podId: string): Promise<void> {
    this.pods.unmark(podId)
  }

  async syncPod(hostId: string, podId: string): Promise<void> {
    await this.pods.settle(hostId, podId)
  }

  async podChanged(podId: string, timeoutMs: number): Promise<void> {
    await this.pods.waitForChange(podId, timeoutMs)
  }

  async movePods(hostId: string): Promise<void> {
    await this.pods.moveAway(hostId)
  }

  async readPods(workloadIds: string[]): Promise<PodsOnHost> {
    return { silentSinceMs: this.presenceOf.silentSinceMs(), stats: this.stats.read(workloadIds, this.now()) }
  }

  async assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean> {
    if (!this.store.get(workload.id)) {
      if (!this.takesMore()) return false
      this.store.setHostId(hostId)
      await this.desired.want(this.ctx.storage, workload, ownerId)
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
        this.store.want({ ...row.workload, desired: 'stopped', stopGraceMs: graceMs }, row.ownerId)
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
    return view && { ...view, oversize: this.desired.isOversize(), replacements: this.replacements.view() }
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
    await this.silence.settle(hostId)
    await this.reports.passOn(hostId, reports)
  }

  async reseal(): Promise<void> {
    this.ctx.storage.transactionSync(() => this.store.reseal((row) => this.logins.reseal(row)))
  }

  /** The agent's link; the Worker has checked the access token. */
  override async fetch(request: Request): Promise<Response> {
    this.store.setHostId(hostOfLink(request))
    await this.silence.ends()
    const { agent, plane } = this.links.accept(request)
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
    if (message.type !== 'hello' && !isGreeted(socket)) {
      socket.close(4001, 'hello first')
      return
    }
    await this.silence.ends()
    this.links.heard(socket, message.type === 'hello' ? message.takesParts === true : undefined)
    if (message.type === 'hello') return this.welcomeOrClose(socket, message)
    if (message.type === 'more') return this.desired.sendTo(socket, message.after)
    sendTo(socket, { type: 'beatAck', beat: message.beat })
    if (message.stats) this.stats.take(message.stats, this.now())
    this.desired.applied(message.appliedRevision)
    if (message.appliedRevision < this.store.revision()) await this.desired.sendTo(socket)
    if (message.gpuHealth) await this.gpuHealth.note(message.gpuHealth)
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    this.desired.linkClosed(code)
    // 1005 and 1006 say that no code came; they may not be sent.
    socket.close(code >= 1000 && code < 5000 && code !== 1005 && code !== 1006 ? code : 1000)
    if (isGreeted(socket)) await this.presenceOf.linkEnded(lastBeat(socket))
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    if (isGreeted(socket)) await this.presenceOf.linkEnded(lastBeat(socket))
  }

  /** Looks whether the host still beats. */
  override async alarm(): Promise<void> {
    const due = this.alarms.due(this.now())
    // The alarm of a release that had no timers was about presence.
    for (const timer of due.length > 0 ? due : [{ name: PRESENCE_TIMER, dueAtMs: this.now() }]) {
      try {
        await this.look(timer.name)
        this.alarms.clear(timer)
      } catch (error) {
        // The platform gives up on an alarm that keeps failing; then nobody would ever notice that the host is gone.
        logEvent('error', 'host alarm failed', { hostId: this.store.hostId(), timer: timer.name, error })
        await this.alarms.set(timer.name, this.now() + ALARM_RETRY_MS)
      }
    }
    await this.alarms.arm()
  }

  private async look(timer: string): Promise<void> {
    const hostId = this.store.hostId()
    if (timer === MARKS_TIMER && hostId !== null) await this.pods.lookAtMarked(hostId)
    if (timer === MOVES_TIMER && hostId !== null) await this.pods.moveAway(hostId)
    if (timer === SILENCE_TIMER && hostId !== null) await this.silence.settle(hostId)
    if (timer === REMOVAL_TIMER && hostId !== null) await this.removal.look(hostId)
    // Whoever waits for room on a host that beats again is told at once.
    if (timer === PRESENCE_TIMER || timer === SILENCE_TIMER) {
      await this.presenceOf.check()
      await this.gpuHealth.apply()
    }
  }

  // The runtime swallows what a socket handler throws; a closed link is seen by the agent, which tries again.
  private async welcomeOrClose(socket: WebSocket, hello: Hello): Promise<void> {
    try {
      await this.welcome(socket, hello)
    } catch (error) {
      logEvent('error', 'host could not be welcomed', { hostId: this.store.hostId(), error })
      socket.close(4004, 'the plane could not take the inventory')
    }
  }

  private async welcome(socket: WebSocket, { inventory, workloads }: Hello): Promise<void> {
    const hostId = this.store.hostId() ?? ''
    this.links.greet(socket, (newer, older) => this.replacements.note(newer, older))
    await saveInventory(openDatabase(this.env.DB), hostId, inventory, this.now())
    await this.presenceOf.cameOnline(hostId)
    await this.silence.settle(hostId)
    await this.pods.returned(hostId, workloads)
    await this.desired.sendTo(socket)
    this.ctx.waitUntil(announceCapacity(this.env))
  }

  private sendIfRevoked(socket: WebSocket): boolean {
    const reason = this.store.revoked()
    if (reason !== null) sendTo(socket, { type: 'revoked', reason })
    return reason !== null
  }
}
