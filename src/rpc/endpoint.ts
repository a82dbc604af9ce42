import type { EndpointImpact } from '../domain/endpoint/impact.ts'
import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { QueueFacts } from '../domain/explain/endpoint.ts'
import type { HostEvent } from '../domain/host/event.ts'
import type { CapacityOffer, SeekingEndpoint } from '../domain/preemption/offers.ts'
import type { DecisionRecord } from '../domain/worker/scaling-record.ts'
import type { CountSeries, Steps, WorkerChange } from '../domain/worker/timeline.ts'
import type { ActiveWorker } from '../domain/worker/worker.ts'
import type { WorkloadReport } from '../host-protocol/messages.ts'
import type { Sender } from '../queue/posts.ts'
import type { PreemptOrder } from '../queue/workers/preempt.ts'
import type { Caller } from './caller.ts'
import type { SlotRef } from './host-tunnel.ts'
import type { PlainReply } from './plain-reply.ts'

/** History of an endpoint. */
export interface EndpointHistory {
  counts: CountSeries[]
  /** Newest first. */
  changes: WorkerChange[]
}

/** RPC interface of the object of one Serverless endpoint. `fetch` serves the job API and the worker protocol. */
export interface EndpointRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /** `/run` with a small body (adr/0010). */
  run(call: SubmitCall, caller: Caller): Promise<PlainReply>
  /** `/status` (adr/0010); null when the record is too large for an RPC. */
  status(endpointId: string, jobId: string, caller: Caller): Promise<PlainReply | null>
  /** `job-done` with a small body (adr/0010). A result that does not apply is ignored (WRK-18). */
  done(endpointId: string, jobId: string, from: Sender, body: string): Promise<void>
  /** Adopts a configuration; one older than the stored revision is ignored. */
  configure(config: EndpointConfig): Promise<void>
  /** END-1: stops all workers and cancels all jobs. */
  destroy(): Promise<void>
  discard(): Promise<void>
  /** Applies a host's report about one of this endpoint's workers. Duplicate and late reports are harmless. */
  workloadReport(report: WorkloadReport): Promise<void>
  /** Applies an event of a host to the workers of this endpoint that it runs. */
  hostChanged(workerIds: string[], event: HostEvent): Promise<void>
  /** The active workers (END-13), from the rows that `/health` counts. */
  workers(): Promise<ActiveWorker[]>
  /** Impact of a change to the endpoint at this moment (DRY-3). */
  impact(): Promise<EndpointImpact>
  /** Decisions of the scaler that changed something, newest first. */
  decisions(): Promise<DecisionRecord[]>
  /** Queue state for an explanation of the endpoint (WHY-10); null before anything is stored. */
  queueFacts(): Promise<QueueFacts | null>
  /** Capacity may be free on some host. False when no worker of this endpoint waits for capacity. */
  capacityAppeared(): Promise<boolean>
  /**
   * A workload needs capacity (PREEMPT-1): returns the capacity that this endpoint could free. The caller is notified when more becomes free
   * (PREEMPT-3).
   */
  requestCapacity(requester: SeekingEndpoint): Promise<CapacityOffer>
  /** Stops idle workers to free capacity, all of the order or none. */
  preempt(order: PreemptOrder): Promise<boolean>
  /** Reserves a slot that is free now: a `SlotGrant` as JSON, or null when the request must wait or is refused (adr/0010). */
  takeSlotNow(endpointId: string, lease: string, caller: Caller): Promise<string | null>
  /** Releases the slot of a finished request; `isReached`: whether its worker could be reached. */
  releaseSlot(slot: SlotRef, isReached: boolean): Promise<void>
  giveBackSlot(lease: string): Promise<void>
  /** Extends the slots of requests that are still carried. */
  renewSlots(slots: SlotRef[]): Promise<void>
  /** The operator suspends the account, or lifts the suspension (DER-40). */
  suspend(isSuspended: boolean): Promise<void>
  /** Reseals values that are stored under a previous secret or in plain text (SEAL-3). */
  reseal(): Promise<void>
  /** Whether the endpoint has this worker, in any state, or had it within the time that its log is retained (LOG-21). */
  recallWorker(workerId: string): Promise<'present' | 'former' | null>
  /** Present and earlier workers, newest first; with a job, the workers of its attempts. Null: no such job (LOG-34). */
  workerSpans(jobId: string | null): Promise<WorkerSpan[] | null>
  /** Host on which a worker runs or ran; null when it has none or the host is not known any more. */
  hostOfWorker(workerId: string): Promise<string | null>
  /** Worker counts over time, and the newest `limit` phase changes of workers up to a time. */
  readTimeline(steps: Steps, untilMs: number, limit: number): Promise<EndpointHistory>
}

/** A worker and the period whose log is requested; `toMs` null: until the present. Milliseconds since the epoch. */
export interface WorkerSpan {
  workerId: string
  /** Whether the worker is present. */
  isKnown: boolean
  fromMs: number
  toMs: number | null
}

/** A `/run` or `/runsync` call with the parameters of its request. */
export interface SubmitCall {
  endpointId: string
  operation: 'run' | 'runsync'
  userId: string
  body: string
  /** Query parameters and headers verbatim; null when absent. */
  ttl: string | null
  wait: string | null
  idempotencyKey: string | null
}
