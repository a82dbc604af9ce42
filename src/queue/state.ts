import type { EndpointConfig } from '../domain/endpoint/record.ts'
import type { KeyRecord } from '../domain/idempotency.ts'
import type { Job } from '../domain/job/job.ts'
import type { PastAttempt } from '../domain/job/timeline.ts'
import type { RoomSeeker } from '../domain/room/give-way.ts'
import type { ScalingDecision, ScalingInputs } from '../domain/worker/scaling.ts'
import type { Worker } from '../domain/worker/worker.ts'

/**
 * What a queue keeps, as the engine sees it. Two states stand behind it: the tables of an endpoint object, and plain maps for histories
 * that take milliseconds. One suite of tests holds both.
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
  readonly requests: OpenRequests
  /** The ping interval `P` that workers are told, milliseconds. */
  readonly pingIntervalMs: number
  /** Whether new inputs have to wait until old results are gone (PP-75). */
  isFull(): boolean
  /** Takes room for so many characters that a worker put out; false when there is none without asking the account's budget (PP-231). */
  takeRoom(chars: number): boolean
  randomBytes(count: number): Uint8Array
}

export interface JobRows {
  /** Queued jobs by priority. */
  readonly queuedNormal: number
  readonly queuedLow: number
  /** The next sequence number: used as row number and as place in the queue. */
  nextSequence(): number
  /** A new job with its input, the text of a JSON value. */
  insert(job: Job, input?: string): void
  /** Writes what a transition may change. `before` is what the caller read. */
  save(before: Job, after: Job): void
  /** Writes the end of a job with its output, a JSON text. What it had put out before goes, and what came with it unless it may run again (CTL-2). */
  end(before: Job, after: Job, output?: string): void
  remove(job: Job): void
  bySeq(seq: number): Job | null
  /** The first queued jobs in the order in which they are taken: normal priority before low, then by place (SCALE-4). */
  queueHead(limit: number): Job[]
  /** Queued jobs in any order. */
  queued(limit: number): Job[]
  running(): Job[]
  heldBy(workerId: string): Job[]
  /** Leases by worker id. */
  heldCounts(): ReadonlyMap<string, number>
  /** Leases of jobs that are not low priority, by worker id. */
  heldNormalCounts(): ReadonlyMap<string, number>
  /** When the first queued jobs that count for scaling were submitted. */
  waitingSinceMs(limit: number): number[]
  /** Sequence numbers of jobs whose deadline has passed, earliest first. */
  due(nowMs: number, limit: number): number[]
  nextDueAtMs(): number | null
}

/** Attempts of jobs that were queued again (JL-20). */
export interface AttemptRows {
  add(job: number, attempt: PastAttempt): void
  clear(job: number): void
}

/** A job that a worker has been told to stop, or is still to be told. */
export interface StopOrder {
  workerId: string
  jobId: string
  told: boolean
  killAtMs: number
}

export interface WorkerRows {
  /** In the order in which they were made. */
  all(): Worker[]
  get(id: string): Worker | null
  save(worker: Worker): void
  /** Also forgets what it had to stop. */
  remove(id: string): void
  /** Orders a stop; the kill time of the first order stands. */
  orderStop(workerId: string, jobId: string, killAtMs: number): void
  stops(workerId: string): StopOrder[]
  /** Workers that have something to stop. */
  withStops(): string[]
  markTold(workerId: string): void
  sayAgain(workerId: string, jobId: string): void
  forgetStop(workerId: string, jobId: string): void
}

/** Texts of a job that can be large. The sealed s3Config is readable with the plane's secret only. */
export const INPUT = 0
export const OUTPUT = 1
export const S3_CONFIG = 2
export type PayloadKind = typeof INPUT | typeof OUTPUT | typeof S3_CONFIG

export interface PayloadRows {
  /** What a running job says of its progress, in place of what it said before. */
  setOutput(job: number, text: string): void
  /** Of a new job. */
  setS3Config(job: number, sealed: string): void
  get(job: number, kind: PayloadKind): string | undefined
  /** LSE-12: what an attempt left behind. */
  clearAttempt(job: number): void
  /** Of a job whose row is gone. */
  clearJob(job: number): void
  /** Appends the chunk with this number to a job's stream; false when the job already keeps as much as it may. */
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
  /** Workers that failed one after another without taking a job. */
  failures: number
  notBeforeMs: number
}

export interface MetaValues {
  /** Also of a deleted endpoint. */
  config(): EndpointConfig | null
  setConfig(config: EndpointConfig): void
  deleted(): boolean
  setDeleted(): void
  /** The operator has suspended the account (PP-214). */
  suspended(): boolean
  setSuspended(isSuspended: boolean): void
  /** 48 random bits as two halves: hides how many jobs an endpoint has had (see job-id.ts). */
  idMask(): readonly [number, number]
  totals(): Totals
  add(name: keyof Totals, by?: number): void
  launch(): LaunchState
  setLaunch(state: LaunchState): void
  /** Whether the endpoint may stand in the list of those that wait for capacity. */
  waitsForCapacity(): boolean
  setWaitsForCapacity(waits: boolean): void
  /** Endpoints that looked for room here in vain (PP-182). */
  roomSeekers(): readonly RoomSeeker[]
  setRoomSeekers(seekers: readonly RoomSeeker[]): void
  /** When the alarm was last set for, so that an outage of the plane itself can be told from silent workers. */
  alarmAtMs(): number | null
  setAlarmAtMs(atMs: number | null): void
}

/** Idempotency keys of submits, per user (PP-72). */
export interface KeyRows {
  find(userId: string, key: string): KeyRecord | null
  /** Remembers a key; an expired record under it is replaced. */
  put(userId: string, key: string, record: KeyRecord): void
  /** Forgets what has expired, a few at a time. */
  sweep(nowMs: number): void
  clear(): void
}

export interface DecisionRows {
  note(decision: ScalingDecision, inputs: ScalingInputs): void
}

/** Notifications of jobs that are over, until the team's webhook sender has them. */
export interface OutboxRows {
  add(job: Job, url: string, texts: readonly string[]): void
  /** For an operation that ends many jobs: tells, when asked later, whether enough has been written for one commit. */
  meter(): () => boolean
}

/** A worker's request for work that waits. */
export interface OpenTake {
  workerId: string
  boot: string
  /** Most jobs it takes (WRK-11). */
  capacity: number
  parkedAtMs: number
}

export interface OpenTakes {
  open(): readonly OpenTake[]
}

/** Requests of a load-balancing endpoint, which are under way or wait, and never rows. */
export interface OpenRequests {
  /** Under way, by worker id. */
  held(): ReadonlyMap<string, number>
  /** For a worker with a place. */
  waiting(): number
}

/** Of an endpoint with a queue. */
export const NO_REQUESTS: OpenRequests = { held: () => new Map(), waiting: () => 0 }
