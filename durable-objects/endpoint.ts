import { isWorkerCall, parseJobCall } from '../src/contract/jobs/job-routes.ts'
import { openDatabase, openRecords } from '../src/db/client.ts'
import { findEndpointConfig, isLiveEndpoint } from '../src/db/endpoints/endpoint-config.ts'
import { type EndpointImpact, NO_IMPACT } from '../src/domain/endpoint/impact.ts'
import type { EndpointConfig } from '../src/domain/endpoint/record.ts'
import type { QueueFacts } from '../src/domain/explain/endpoint.ts'
import type { HostEvent } from '../src/domain/host/event.ts'
import type { CapacityOffer, SeekingEndpoint } from '../src/domain/preemption/offers.ts'
import type { DecisionRecord } from '../src/domain/worker/scaling-record.ts'
import { countSeries, type Steps } from '../src/domain/worker/timeline.ts'
import { type ActiveWorker, activeWorkers } from '../src/domain/worker/worker.ts'
import type { Env } from '../src/env.ts'
import type { WorkloadReport } from '../src/host-protocol/messages.ts'
import { isSlotCall } from '../src/objects/tunnel/served-request.ts'
import { parseChannelCall } from '../src/objects/worker-channel.ts'
import { logEvent } from '../src/platform/log.ts'
import { deleteEndpoint, suspendEndpoint, takeConfig } from '../src/queue/endpoint-life.ts'
import { impactOf } from '../src/queue/impact.ts'
import type { Sender } from '../src/queue/posts.ts'
import { occupiedWorkers } from '../src/queue/worker-rows.ts'
import { applyHostEvent } from '../src/queue/workers/host-events.ts'
import { applyWorkloadReport } from '../src/queue/workers/host-reports.ts'
import { type PreemptOrder, preempt, requestCapacity } from '../src/queue/workers/preempt.ts'
import type { Caller } from '../src/rpc/caller.ts'
import type { EndpointHistory, EndpointRpc, SubmitCall, WorkerSpan } from '../src/rpc/endpoint.ts'
import type { SlotRef } from '../src/rpc/host-tunnel.ts'
import type { PlainReply } from '../src/rpc/plain-reply.ts'
import { WorkerChannels } from './endpoint/channel/channels.ts'
import { clientCall, plainCall } from './endpoint/client/client-call.ts'
import { cancelQueued } from './endpoint/client/client-operations.ts'
import { plainStatus } from './endpoint/client/client-reads.ts'
import { readQueueFacts } from './endpoint/client/queue-facts.ts'
import { run } from './endpoint/client/submissions.ts'
import { workerSpans } from './endpoint/client/timeline.ts'
import { EndpointCore } from './endpoint/core.ts'
import { placeThrottled } from './endpoint/effects/worker-effects.ts'
import { problemReply } from './endpoint/replies.ts'
import { takeSlot, takeSlotNow } from './endpoint/slot-calls.ts'
import { MAX_DECISIONS } from './endpoint/store/decision-log.ts'
import { refuseUnknown } from './endpoint/unknown-endpoint.ts'
import { workerOperation } from './endpoint/worker/worker-operations.ts'
import { takePostText } from './endpoint/worker/worker-posts.ts'
import { closeBack, PlaneObject } from './plane-object.ts'

const ALARM_RETRY_MS = 1_000

/**
 * One Serverless endpoint: its queue, leases, results and workers. A thin shell; decisions are in src/domain and src/queue, rows in
 * ./endpoint/store.
 */
export class EndpointObject extends PlaneObject implements EndpointRpc {
  readonly core: EndpointCore
  private readonly channels: WorkerChannels

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.core = new EndpointCore(ctx, env, this.timers)
    this.channels = new WorkerChannels(this.core)
  }

  /** Job API and worker protocol. The Worker has already checked the key and that the caller owns the endpoint. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    if (isSlotCall(url)) {
      await this.adopted(url.searchParams.get('endpoint') ?? '')
      return takeSlot(this.core, request)
    }
    const channel = parseChannelCall(url)
    if (channel) return this.channels.open(channel, await this.adopted(channel.endpointId))
    const call = parseJobCall(url)
    if (!call) return problemReply('pathNotFound', 'The requested path was not found.')
    if (!(await this.adopted(call.endpointId))) return refuseUnknown(call, request)
    return isWorkerCall(call) ? workerOperation(this.core, call, request) : clientCall(this.core, call, request)
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    await this.channels.hear(socket, data)
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.channels.closed(socket)
    closeBack(socket, code)
  }

  override webSocketError(socket: WebSocket): void {
    this.channels.closed(socket)
  }

  /** `/run` with a small body (adr/0010). */
  async run(call: SubmitCall, caller: Caller): Promise<PlainReply> {
    await this.adopted(call.endpointId)
    return plainCall(this.core, 'run', caller, () => run(this.core, call))
  }

  /** `/status` (adr/0010); null when the record is too large for an RPC. */
  async status(endpointId: string, jobId: string, caller: Caller): Promise<PlainReply | null> {
    await this.adopted(endpointId)
    return plainCall(this.core, 'status', caller, () => plainStatus(this.core, jobId))
  }

  /** `job-done` with a small body (adr/0010). A result that does not apply is ignored (WRK-18). */
  async done(endpointId: string, jobId: string, from: Sender, body: string): Promise<void> {
    if (await this.adopted(endpointId)) await takePostText(this.core, 'job-done', jobId, from, body)
  }

  /** Adopts a configuration; one older than the stored revision is ignored. */
  async configure(config: EndpointConfig): Promise<void> {
    // A configuration that arrives after the endpoint was deleted must not create the object's rows again.
    if (!this.core.isStored && !(await isLiveEndpoint(openDatabase(this.env.DB), config.id))) return
    await this.core.transact((tx) => takeConfig(tx, config))
  }

  /** END-1: stops all workers and cancels all jobs. */
  async destroy(): Promise<void> {
    await this.core.transact(deleteEndpoint)
    await cancelQueued(this.core)
  }

  /** END-33: deletes the object's data once the endpoint's row is marked deleted. Jobs in progress retain their rows until they end. */
  async discard(): Promise<void> {
    await this.core.discard()
  }

  /** Applies a host's report about one of this endpoint's workers. Duplicate and late reports are harmless. */
  async workloadReport(report: WorkloadReport): Promise<void> {
    await this.core.transact((tx) => applyWorkloadReport(tx, report))
  }

  /** Applies an event of a host to the workers of this endpoint that it runs. */
  async hostChanged(workerIds: string[], event: HostEvent): Promise<void> {
    if (event.kind === 'lost') this.channels.endOf(workerIds)
    await this.core.transact((tx) => applyHostEvent(tx, workerIds, event))
  }

  /** The active workers (END-13), from the rows that `/health` counts. */
  async workers(): Promise<ActiveWorker[]> {
    if (!this.core.isStored) return []
    return activeWorkers(this.core.state.workers.all(), occupiedWorkers(this.core.state))
  }

  /** Impact of a change to the endpoint at this moment (DRY-3). */
  async impact(): Promise<EndpointImpact> {
    return this.core.isStored ? impactOf(this.core.state, this.core.now()) : NO_IMPACT
  }

  /** Decisions of the scaler that changed something, newest first. */
  async decisions(): Promise<DecisionRecord[]> {
    if (!this.core.isStored) return []
    return this.core.state.decisions.newest(MAX_DECISIONS)
  }

  async queueFacts(): Promise<QueueFacts | null> {
    return readQueueFacts(this.core)
  }

  /** Capacity may be free on some host. False when no worker of this endpoint waits for capacity. */
  async capacityAppeared(): Promise<boolean> {
    return this.core.isStored && placeThrottled(this.core)
  }

  /**
   * A workload needs capacity (PREEMPT-1): returns the capacity that this endpoint could free. The caller is notified when more becomes free
   * (PREEMPT-3).
   */
  async requestCapacity(seeker: SeekingEndpoint): Promise<CapacityOffer> {
    return this.core.transact((tx) => requestCapacity(tx, seeker))
  }

  /** Stops idle workers to free capacity, all of the order or none. */
  async preempt(order: PreemptOrder): Promise<boolean> {
    return this.core.transact((tx) => preempt(tx, order))
  }

  /** Whether the endpoint has this worker, in any state, or had it within the time that its log is retained (LOG-21). */
  async recallWorker(workerId: string): Promise<'present' | 'former' | null> {
    return this.core.isStored ? this.core.state.workers.recall(workerId) : null
  }

  /** Worker lifetimes for the log of a job or of the endpoint (LOG-34). */
  async workerSpans(jobId: string | null): Promise<WorkerSpan[] | null> {
    return this.core.isStored ? workerSpans(this.core, jobId) : []
  }

  /** Host on which a worker runs or ran; null when it has none or the host is not known any more. */
  async hostOfWorker(workerId: string): Promise<string | null> {
    return this.core.isStored ? this.core.state.workers.lives.hostOf(workerId) : null
  }

  /** Worker counts over time and worker state changes (HIS-21). */
  async readTimeline(steps: Steps, untilMs: number, limit: number): Promise<EndpointHistory> {
    if (!this.core.isStored) return { counts: countSeries([], steps, this.core.now()), changes: [] }
    const { timeline } = this.core.state
    const endMs = steps.fromMs + steps.count * steps.stepMs
    const samples = timeline.samples(steps.fromMs, endMs)
    return {
      counts: countSeries(samples, steps, this.core.now()),
      changes: timeline.changes(steps.fromMs, Math.min(untilMs, endMs), limit),
    }
  }

  /** Reserves a slot that is free now (adr/0010). */
  async takeSlotNow(endpointId: string, lease: string, caller: Caller): Promise<string | null> {
    await this.adopted(endpointId)
    return takeSlotNow(this.core, lease, caller)
  }

  /** Releases the slot of a finished request. */
  async releaseSlot(slot: SlotRef, isReached: boolean): Promise<void> {
    if (this.core.isStored) this.core.slots.release(slot, isReached)
  }

  /** Releases a slot whose request never reached a tunnel, as far as its caller knows. */
  async giveBackSlot(lease: string): Promise<void> {
    if (this.core.isStored) this.core.slots.giveBack(lease)
  }

  /** Extends the slots of requests that a tunnel still carries. */
  async renewSlots(slots: SlotRef[]): Promise<void> {
    if (this.core.isStored) this.core.slots.renew(slots)
  }

  /** DER-40: the operator suspends the account, or lifts the suspension. */
  async suspend(isSuspended: boolean): Promise<void> {
    await this.core.transact((tx) => suspendEndpoint(tx, isSuspended))
  }

  /** Reseals values that are stored under a previous secret or in plain text (SEAL-3). */
  async reseal(): Promise<void> {
    const config = this.core.config()
    if (config) await this.core.transact(() => this.core.state.meta.setConfig(config))
  }

  override async alarm(): Promise<void> {
    try {
      await this.core.wake()
    } catch (error) {
      // The platform gives up on an alarm that fails repeatedly; a new one keeps the deadlines alive.
      logEvent('error', 'endpoint alarm failed', { error })
      await this.ctx.storage.setAlarm(Date.now() + ALARM_RETRY_MS)
    }
  }

  // D1 owns the configuration; the object has no copy when the push after the insert was lost.
  private async adopted(endpointId: string): Promise<boolean> {
    if (this.core.config()) return true
    if (this.core.isStored && this.core.state.meta.deleted()) return false
    const config = await findEndpointConfig(openRecords(this.env), endpointId)
    if (config) await this.core.transact((tx) => takeConfig(tx, config))
    return config !== null
  }
}
