import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { KeyRecord } from '../domain/idempotency.ts'
import type { EndedJob, Job, QueuedJob, RunningJob } from '../domain/job/job.ts'
import type { PastAttempt } from '../domain/job/timeline.ts'
import type { CapacitySeeker } from '../domain/preemption/offers.ts'
import type { ScalingDecision, ScalingInputs } from '../domain/worker/scaling.ts'
import type { Worker } from '../domain/worker/worker.ts'

/**
 * State of a queue, as the engine uses it. It has two implementations: the tables of an endpoint object, and plain maps for simulations
 * that take milliseconds. The same test suite checks both.
 */
export interface QueueState {
  readonly jobs: JobRows
  readonly workers: WorkerRows
  readonly payloads: PayloadRows
  readonly meta: MetaValues
  readonly keys: KeyRows
  readonly attempts: AttemptRows
  readonly decisions: DecisionRows
  readonly outbox: OutboxRows
  readonly takes: OpenTakes
  /**
   * Hosts whose worker channels have outlived the memory of the queue, and whose agents have not yet said which pings stand (CHN-30), with
   * the time of their last frame. Not stored in rows.
   */
  unheardHosts(): ReadonlyMap<string, number>
  readonly requests: OpenRequests
  /** Ping interval `P` that workers are given, milliseconds. */
  readonly pingIntervalMs: number
  /** Whether new inputs have to wait until old results are removed (LIM-10). */
  isFull(): boolean
  /** Reserves room for this many characters of a worker's output; false when the account's budget has to be asked first (WRK-49). */
  takeRoom(chars: number): boolean
  randomBytes(count: number): Uint8Array
}

/** The stored jobs of an endpoint. */
export interface JobRows {
  /** Queued jobs by priority. */
  readonly queuedNormal: number
  readonly queuedLow: number
  /** Next sequence number, which is both row number and position in the queue. */
  nextSequence(): number
  /** Inserts a new job with its input, a JSON text. */
  insert(job: QueuedJob, input?: string): void
  /** Writes the fields that a transition may change. `before` is the job that the caller read. */
  save(before: Job, after: Job): void
  /**
   * Writes the end of a job with its output, a JSON text. Its earlier output is removed, and so are its input and s3Config unless it may be
   * retried (CTL-2).
   */
  end(before: Job, after: EndedJob, output?: string): void
  remove(job: Job): void
  /** Removes the row of a job that cannot be read (JOB-24). */
  removeRow(seq: number): void
  /** Null: it does not exist, or its row is corrupted. */
  bySeq(seq: number): Job | null
  /** The same for a call about this job alone: throws if its row is corrupted (JOB-24). */
  bySeqOrThrow(seq: number): Job | null
  /** First queued jobs in dispatch order: normal priority before low, then by position (SCALE-4). */
  queueHead(limit: number): QueuedJob[]
  /** Queued jobs in any order. */
  queued(limit: number): QueuedJob[]
  running(): RunningJob[]
  heldBy(workerId: string): RunningJob[]
  /** Leases by worker id. */
  heldCounts(): ReadonlyMap<string, number>
  /** Leases of jobs that are not low priority, by worker id. */
  heldNormalCounts(): ReadonlyMap<string, number>
  /** Submission times of the first queued jobs that count for scaling. */
  waitingSinceMs(limit: number): number[]
  /** Sequence numbers of jobs whose deadline has passed, earliest first. */
  due(nowMs: number, limit: number): number[]
  /** Earliest deadline; `dueOf`: that of a running job, by default its own. */
  nextDueAtMs(dueOf?: (job: RunningJob) => number): number | null
}

/** Attempts of jobs that were queued again (JOB-43). */
export interface AttemptRows {
  add(job: number, attempt: PastAttempt): void
  clear(job: number): void
}

/** Order to a worker to stop a job; `delivered`: the worker has received it. */
export interface StopOrder {
  workerId: string
  jobId: string
  delivered: boolean
  killAtMs: number
}

/** The stored workers of an endpoint. */
export interface WorkerRows {
  /** In order of creation. */
  all(): Worker[]
  get(id: string): Worker | null
  save(worker: Worker): void
  /** Removes its stop orders too. */
  remove(id: string): void
  /** Orders a stop; the kill time of the first order stays. */
  orderStop(workerId: string, jobId: string, killAtMs: number): void
  stops(workerId: string): StopOrder[]
  /** Workers with stop orders. */
  withStops(): string[]
  markDelivered(workerId: string): void
  markUndelivered(workerId: string, jobId: string): void
  deleteStop(workerId: string, jobId: string): void
}

/** Large texts of a job. The sealed s3Config is readable only with the plane's secret. */
export const INPUT = 0
export const OUTPUT = 1
export const S3_CONFIG = 2
/** Kind of a stored text. */
export type PayloadKind = typeof INPUT | typeof OUTPUT | typeof S3_CONFIG

/** The stored texts of jobs, which are read only when they are needed. */
export interface PayloadRows {
  /** Stores the latest progress of a running job, replacing the previous one. */
  setOutput(job: number, text: string): void
  /** Called for a new job. */
  setS3Config(job: number, sealed: string): void
  get(job: number, kind: PayloadKind): string | undefined
  /** LSE-12: removes the output of an attempt. */
  clearAttempt(job: number): void
  /** Called for a job whose row is removed. */
  clearJob(job: number): void
  /** Appends the chunk with this number to a job's stream; false when the stream has reached its maximum size. */
  appendChunk(job: number, number: number, json: string): boolean
}

/** Totals since the endpoint was created (HLT-1). */
export interface Totals {
  completed: number
  failed: number
  retried: number
  superseded: number
}

/** State of the scaler between decisions. */
export interface LaunchState {
  /** Number of workers that failed in a row without taking a job. */
  failures: number
  notBeforeMs: number
}

/** Circumstances of an alarm that was set while agents answered for pings. */
export interface AlarmTrust {
  /** Hosts of these agents. */
  hosts: readonly string[]
  /** When it was set. */
  setAtMs: number
}

/** The stored values of which an endpoint has one each. */
export interface MetaValues {
  /** Returned for a deleted endpoint too. */
  config(): EndpointConfig | null
  setConfig(config: EndpointConfig): void
  deleted(): boolean
  setDeleted(): void
  /** Whether the operator has suspended the account (DER-40). */
  suspended(): boolean
  setSuspended(isSuspended: boolean): void
  /** 48 random bits as two halves, which hide the number of jobs that an endpoint has had (see src/domain/job/id.ts). */
  idMask(): readonly [number, number]
  totals(): Totals
  /** `endedAtMs`: a job ended then. */
  add(name: keyof Totals, by?: number, endedAtMs?: number | null): void
  launch(): LaunchState
  setLaunch(state: LaunchState): void
  /** Whether the endpoint may be in the list of endpoints that wait for capacity. */
  waitsForCapacity(): boolean
  setWaitsForCapacity(waits: boolean): void
  /** Endpoints that searched for capacity here without success (PREEMPT-3). */
  capacitySeekers(): readonly CapacitySeeker[]
  setCapacitySeekers(seekers: readonly CapacitySeeker[]): void
  /** Instant for which the alarm was last set, to distinguish an outage of the plane itself from silent workers. */
  alarmAtMs(): number | null
  /** The trust in which it was set, and may be far ahead; null: no agent answered for a worker (CHN-30). */
  alarmTrust(): AlarmTrust | null
  setAlarmAtMs(atMs: number | null, trust?: AlarmTrust | null): void
  /** When a job ended last; null: none has. To the minute at least. */
  lastEndMs(): number | null
}

/** Idempotency keys of submits, per user (RUN-13). */
export interface KeyRows {
  find(userId: string, key: string): KeyRecord | null
  /** Stores a key, replacing an expired record under it. */
  put(userId: string, key: string, record: KeyRecord): void
  /** Removes expired keys, a few at a time. */
  sweep(nowMs: number): void
  clear(): void
}

/** The stored decisions of the scaler, for its history. */
export interface DecisionRows {
  note(decision: ScalingDecision, inputs: ScalingInputs): void
}

/** Notifications of finished jobs, until the team's webhook sender has them. */
export interface OutboxRows {
  add(job: Job, url: string, texts: readonly string[]): void
  /** Starts a meter for an operation that ends many jobs; it returns whether enough has been written since for one commit. */
  meter(): () => boolean
}

/** An open request of a worker for work. */
export interface OpenTake {
  workerId: string
  boot: string
  /** Maximum number of jobs that it takes (WRK-11). */
  capacity: number
  parkedAtMs: number
}

/** Takes that wait for a job. They are not stored in rows. */
export interface OpenTakes {
  openTakes(): readonly OpenTake[]
  /** Whether a worker has an open take. */
  isPolling(workerId: string): boolean
}

/** Content of a worker's ping. */
export interface Ping {
  /** Jobs that the worker reports as held. */
  listed: ReadonlySet<string>
  /** Version of its SDK; null when it reports none. */
  sdkVersion: string | null
  /** Why it is unfit to work; null when it is healthy. */
  unhealthy: string | null
}

/** Requests of a load-balancing endpoint, in progress or waiting. They are not stored in rows. */
export interface OpenRequests {
  /** Requests in progress, by worker id. */
  held(): ReadonlyMap<string, number>
  /** Number of requests that wait for a worker with a free place. */
  waiting(): number
}

/** Requests of an endpoint with a queue: none. */
export const NO_REQUESTS: OpenRequests = { held: () => new Map(), waiting: () => 0 }
