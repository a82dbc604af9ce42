import { DurableObject } from 'cloudflare:workers'
import { releaseCapacity, saveInventory } from '../src/db/capacity.ts'
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
} from '../src/host-protocol/messages.ts'
import { logEvent } from '../src/log.ts'
import { HOST_SCHEMA, type HostWorkload, WorkloadStore } from './host/workload-store.ts'
import { applySchema } from './sql-migrations.ts'
import { endpointStub } from './stubs.ts'

/** A closed link gets this long to come back before the host counts as offline. */
const RECONNECT_GRACE_MS = 10_000
/** A host that misses this much is not given new work. */
const SUSPECT_AFTER_MS = 3 * BEAT_INTERVAL_MS
const ALARM_RETRY_MS = 5_000
const MAX_MESSAGE_CHARS = 1_000_000

interface LinkState {
  lastBeatAtMs: number
}

/** One GPU machine: the agent's link, what the machine should run, and what it said about it. No D1 write per beat. */
export class HostObject extends DurableObject<Env> {
  private readonly store: WorkloadStore

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    applySchema(ctx.storage, HOST_SCHEMA)
    this.store = new WorkloadStore(ctx.storage.sql)
  }

  /**
   * Makes the host run a workload. Repeating it changes nothing. False when the host is suspect (no beat for three intervals): it is still
   * online by its lease, but what is given to it now may have to wait for its return.
   */
  async assign(hostId: string, workload: Workload, ownerId: string): Promise<boolean> {
    if (!this.store.get(workload.id)) {
      if (!this.liveSockets().some((socket) => Date.now() - this.lastBeat(socket) < SUSPECT_AFTER_MS)) return false
      this.ctx.storage.transactionSync(() => {
        this.store.setHostId(hostId)
        this.store.want(workload, ownerId)
      })
    }
    this.pushDesired()
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
    if (known) this.pushDesired()
    return known
  }

  /**
   * The enrolment was withdrawn: the agent stops everything and leaves. What the machine still held is told to be gone to its owners, so
   * that nothing waits for a machine that will never answer.
   */
  async revoke(hostId: string, reason: string): Promise<void> {
    this.store.setRevoked(reason)
    this.send({ type: 'revoked', reason })
    for (const socket of this.ctx.getWebSockets()) socket.close(4001, 'revoked')
    const gone = {
      state: 'gone' as const,
      exitCode: null,
      reason: 'its host was removed',
      at: Date.now(),
      sequence: Number.MAX_SAFE_INTEGER,
    }
    await this.report(
      hostId,
      this.store.all().map((row) => ({ ...gone, workloadId: row.workload.id })),
    )
  }

  /**
   * Workload state changes. Answered only once every owner has been told; the agent repeats what was not. One owner that cannot be told
   * must not keep the reports of the others, so the failure comes at the end.
   */
  async report(hostId: string, reports: WorkloadReport[]): Promise<void> {
    let failure: unknown = null
    for (const report of reports) {
      try {
        await this.reportOne(hostId, report)
      } catch (error) {
        failure = error
        logEvent('warn', 'a report could not be passed on', { hostId, workloadId: report.workloadId, error })
      }
    }
    if (failure !== null) throw failure
  }

  private async reportOne(hostId: string, report: WorkloadReport): Promise<void> {
    const row = this.store.get(report.workloadId)
    if (!row || report.sequence <= row.sequence) return
    if (report.state === 'gone') await releaseCapacity(openDatabase(this.env.DB), report.workloadId, hostId)
    await endpointStub(this.env, row.ownerId).workloadReport(report)
    this.ctx.storage.transactionSync(() => {
      if (report.state === 'gone') this.store.remove(report.workloadId)
      else this.store.record(report)
    })
  }

  /** The agent's link; the Worker has checked the access token and passes the host's id. */
  override async fetch(request: Request): Promise<Response> {
    const hostId = request.headers.get('x-podplane-host') ?? ''
    this.store.setHostId(hostId)
    const revoked = this.store.revoked()
    for (const socket of this.ctx.getWebSockets()) socket.close(4000, 'replaced by a newer link')
    const pair = new WebSocketPair()
    this.ctx.acceptWebSocket(pair[1])
    this.touch(pair[1])
    if (revoked !== null) pair[1].send(JSON.stringify({ type: 'revoked', reason: revoked } satisfies PlaneMessage))
    return new Response(null, { status: 101, webSocket: pair[0] })
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    const text = typeof data === 'string' ? data : ''
    const parsed = text.length <= MAX_MESSAGE_CHARS ? AgentMessage.safeParse(parseJson(text)) : null
    if (!parsed?.success) {
      socket.close(4002, 'message not understood')
      return
    }
    this.touch(socket)
    if (parsed.data.type === 'hello') return this.welcomeOrClose(socket, parsed.data.inventory)
    sendTo(socket, { type: 'beatAck', beat: parsed.data.beat })
    if (parsed.data.appliedRevision < this.store.revision()) this.pushDesired()
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    socket.close(code >= 1000 && code < 5000 && code !== 1005 && code !== 1006 ? code : 1000)
    if (this.liveSockets().length === 0) await this.ctx.storage.setAlarm(Date.now() + RECONNECT_GRACE_MS)
  }

  override async webSocketError(): Promise<void> {
    if (this.liveSockets().length === 0) await this.ctx.storage.setAlarm(Date.now() + RECONNECT_GRACE_MS)
  }

  /** While the host is online, looks once per lease whether it still beats. */
  override async alarm(): Promise<void> {
    try {
      await this.checkBeats()
    } catch (error) {
      // The platform gives up on an alarm that keeps failing; then nobody would ever notice that the host is gone.
      logEvent('error', 'host alarm failed', { hostId: this.store.hostId(), error })
      await this.ctx.storage.setAlarm(Date.now() + ALARM_RETRY_MS)
    }
  }

  private async checkBeats(): Promise<void> {
    const alive = this.liveSockets().filter((socket) => Date.now() - this.lastBeat(socket) < HOST_LEASE_MS)
    if (alive.length > 0) {
      await this.ctx.storage.setAlarm(Date.now() + HOST_LEASE_MS)
      return
    }
    for (const socket of this.liveSockets()) socket.close(4003, 'no beat within the lease')
    await this.goOffline()
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
    await this.ctx.storage.setAlarm(Date.now() + HOST_LEASE_MS)
    sendTo(socket, this.desired())
    logEvent('info', 'host online', { hostId })
  }

  private async goOffline(): Promise<void> {
    const hostId = this.store.hostId()
    if (hostId === null) return
    await setHostStatus(openDatabase(this.env.DB), hostId, 'OFFLINE', Date.now())
    logEvent('warn', 'host offline', { hostId })
    for (const row of this.store.all()) await this.reportNeverStarted(row)
  }

  // A worker that was on its way to a lost host would be waited for until its host returned; its endpoint looks for another.
  private async reportNeverStarted({ workload, ownerId, state, sequence }: HostWorkload): Promise<void> {
    if (workload.desired !== 'running' || state === 'running') return
    const report = {
      workloadId: workload.id,
      state: 'error' as const,
      exitCode: null,
      reason: 'its host went offline before it started',
      at: Date.now(),
      sequence,
    }
    await endpointStub(this.env, ownerId)
      .workloadReport(report)
      .catch((error: unknown) => logEvent('warn', 'a report could not be passed on', { workloadId: workload.id, error }))
  }

  private desired(): PlaneMessage {
    return { type: 'desired', revision: this.store.revision(), workloads: this.store.all().map((row) => row.workload) }
  }

  private pushDesired(): void {
    this.send(this.desired())
  }

  private send(message: PlaneMessage): void {
    for (const socket of this.liveSockets()) sendTo(socket, message)
  }

  private liveSockets(): WebSocket[] {
    return this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.READY_STATE_OPEN)
  }

  private touch(socket: WebSocket): void {
    socket.serializeAttachment({ lastBeatAtMs: Date.now() } satisfies LinkState)
  }

  private lastBeat(socket: WebSocket): number {
    const state = socket.deserializeAttachment() as LinkState | null
    return state?.lastBeatAtMs ?? 0
  }
}

function sendTo(socket: WebSocket, message: PlaneMessage): void {
  try {
    socket.send(JSON.stringify(message))
  } catch {
    // The link broke between the check and the send; the agent gets the whole state when it reconnects.
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
