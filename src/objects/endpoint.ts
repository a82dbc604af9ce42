import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { EndpointStake } from '../domain/endpoint/stake.ts'
import type { HostEvent } from '../domain/host/event.ts'
import type { RoomAsker, RoomOffer } from '../domain/room/give-way.ts'
import type { QueueFacts } from '../domain/why/endpoint.ts'
import type { DecisionRecord } from '../domain/worker/scaling-record.ts'
import type { CountSeries, Steps, WorkerChange } from '../domain/worker/timeline.ts'
import type { ActiveWorker } from '../domain/worker/worker.ts'
import type { WorkloadReport } from '../host-protocol/messages.ts'
import type { Sender } from '../queue/posts.ts'
import type { GiveWayOrder } from '../queue/workers/give-way.ts'
import type { Caller } from './caller.ts'
import type { SlotRef } from './host-tunnel.ts'
import type { PlainReply } from './plain-reply.ts'

/** What an endpoint's object knows of the past. */
export interface EndpointHistory {
  counts: CountSeries[]
  /** Newest first. */
  changes: WorkerChange[]
}

/** The object of one Serverless endpoint, as everybody else knows it. `fetch` takes the job API and the worker protocol. */
export interface EndpointRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  /** `/run` with a small body (adr/0010). */
  run(call: SubmitCall, caller: Caller): Promise<PlainReply>
  /** `/status` (adr/0010); null when the record is too large for an RPC. */
  status(endpointId: string, jobId: string, caller: Caller): Promise<PlainReply | null>
  /** `job-done` with a small body (adr/0010). What cannot be applied is ignored (WRK-18). */
  done(endpointId: string, jobId: string, from: Sender, body: string): Promise<void>
  /** Takes over a configuration; an older revision than the known one changes nothing. */
  configure(config: EndpointConfig): Promise<void>
  /** END-1: ends all workers and cancels all jobs. */
  destroy(): Promise<void>
  forget(): Promise<void>
  /** What a host says about one of this endpoint's workers. Repeats and late reports are harmless. */
  workloadReport(report: WorkloadReport): Promise<void>
  /** What has become of the machine on which some workers of this endpoint are. */
  hostChanged(workerIds: string[], event: HostEvent): Promise<void>
  /** The workers that take part in something (END-13), from the rows that `/health` counts. */
  workers(): Promise<ActiveWorker[]>
  /** What hangs on the endpoint at this moment (DRY-3). */
  stake(): Promise<EndpointStake>
  /** Decisions of the scaler that changed something, newest first. */
  decisions(): Promise<DecisionRecord[]>
  /** What an explanation of the endpoint looks at (WHY-10); null before anything is stored. */
  queueFacts(): Promise<QueueFacts | null>
  /** Room may have appeared on some host. False when no worker of this endpoint waits for any. */
  capacityAppeared(): Promise<boolean>
  /** Somebody looks for room (PP-180): what this endpoint holds. Who asks is told when more of it may go (PP-182). */
  askRoom(asker: RoomAsker): Promise<RoomOffer>
  /** Sends idle workers away to make room, all of them or none. */
  giveWay(order: GiveWayOrder): Promise<boolean>
  /** A request to a worker is over; `isReached`: its worker was there. */
  releaseSlot(slot: SlotRef, isReached: boolean): Promise<void>
  giveBackSlot(lease: string): Promise<void>
  /** These requests are still under way. */
  renewSlots(slots: SlotRef[]): Promise<void>
  /** The operator suspends the account, or ends that (PP-214). */
  suspend(isSuspended: boolean): Promise<void>
  /** Seals anew what the object keeps under a former secret, or under none (PP-213). */
  reseal(): Promise<void>
  /** Whether the endpoint has this worker, in whatever state, or had it while its log may still be there (PP-194). */
  recallWorker(workerId: string): Promise<'present' | 'former' | null>
  /** Workers that are or were here, newest first; with a job, those that had it. Null: no such job (JL-14). */
  workerSpans(jobId: string | null): Promise<WorkerSpan[] | null>
  /** On which host a worker is or was; null: on none, or that is not known any more. */
  hostOfWorker(workerId: string): Promise<string | null>
  /** What the endpoint had over time, and the newest `limit` changes of workers up to an instant. */
  readTimeline(steps: Steps, untilMs: number, limit: number): Promise<EndpointHistory>
}

/** A worker, and from when to when something is asked of it; null: until now. Milliseconds since the epoch. */
export interface WorkerSpan {
  workerId: string
  /** Whether it is here now. */
  isKnown: boolean
  fromMs: number
  toMs: number | null
}

/** A `/run` or `/runsync`, with what its request says about it. */
export interface SubmitCall {
  endpointId: string
  operation: 'run' | 'runsync'
  userId: string
  body: string
  /** Query parameters and headers as they came; null when absent. */
  ttl: string | null
  wait: string | null
  idempotencyKey: string | null
}
