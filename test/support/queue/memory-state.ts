import type { EndpointConfig } from '../../../src/domain/endpoint/record.ts'
import type { KeyRecord } from '../../../src/domain/idempotency.ts'
import { canRetry, dueAtMs, type Job, type RunningJob } from '../../../src/domain/job/job.ts'
import { dueInRowMs, isRenewal } from '../../../src/domain/job/lease-memory.ts'
import type { CapacitySeeker } from '../../../src/domain/preemption/offers.ts'
import { isSign, takeInRow } from '../../../src/domain/worker/signs.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'
import {
  type AlarmTrust,
  type DecisionRows,
  INPUT,
  type JobRows,
  type LaunchState,
  type MetaValues,
  NO_REQUESTS,
  type OpenTakes,
  OUTPUT,
  type PayloadKind,
  type PayloadRows,
  type QueueState,
  S3_CONFIG,
  type StopOrder,
  type Totals,
  type WorkerRows,
} from '../../../src/queue/state.ts'

/** All data that a queue stores, as plain data: it survives a restart. */
interface Kept {
  jobs: Map<number, Job>
  /** Jobs as their rows store them, where memory is more recent (LSE-24). */
  renewed: Map<number, Job>
  seen: Map<string, Worker>
  lastSequence: number
  workers: Map<string, Worker>
  stops: StopOrder[]
  texts: Map<string, string>
  chunks: Map<number, string[]>
  keys: Map<string, KeyRecord>
  /** Ids of jobs whose notification has not been taken. */
  notifications: string[]
  meta: {
    config: EndpointConfig | null
    deleted: boolean
    suspended: boolean
    totals: Totals
    launch: LaunchState
    waits: boolean
    seekers: readonly CapacitySeeker[]
    alarmAtMs: number | null
    alarmTrust: AlarmTrust | null
    lastEndMs: number | null
  }
  random: number
}

/** No open takes. */
export const NO_TAKES: OpenTakes = { openTakes: () => [], isPolling: () => false }

/** A queue's state in maps, for histories that take milliseconds. No transactions: a history stops at its first error. */
export class MemoryState implements QueueState {
  pingIntervalMs = 10_000
  readonly jobs: JobRows
  readonly workers: WorkerRows
  readonly payloads: PayloadRows
  readonly meta: MetaValues
  readonly keys: QueueState['keys']
  readonly attempts: QueueState['attempts'] = { add: () => {}, clear: () => {} }
  readonly decisions: DecisionRows = { note: () => undefined }
  readonly outbox: QueueState['outbox']
  readonly takes: OpenTakes
  readonly requests = NO_REQUESTS
  unheardHosts: () => ReadonlyMap<string, number> = () => new Map()
  private readonly kept: Kept

  constructor(takes: OpenTakes = NO_TAKES, kept: Kept = nothingKept()) {
    this.takes = takes
    this.kept = kept
    this.jobs = jobRows(kept)
    this.workers = workerRows(kept)
    this.payloads = payloadRows(kept)
    this.meta = metaValues(kept)
    this.outbox = { add: (job) => void kept.notifications.push(job.id), meter: () => () => false }
    this.keys = {
      find: (userId, key) => kept.keys.get(`${userId} ${key}`) ?? null,
      put: (userId, key, record) => void kept.keys.set(`${userId} ${key}`, record),
      sweep: () => undefined,
      clear: () => kept.keys.clear(),
    }
  }

  /** The same queue after its process has ended and started again. */
  restarted(takes: OpenTakes): MemoryState {
    const { renewed, seen, ...kept } = structuredClone(this.kept)
    const jobs = new Map(Array.from(kept.jobs, ([seq, job]) => [seq, renewed.get(seq) ?? job]))
    const workers = new Map(Array.from(kept.workers, ([id, worker]) => [id, asInRow(seen.get(id) ?? worker)]))
    return new MemoryState(takes, { ...kept, jobs, workers, renewed: new Map(), seen: new Map() })
  }

  /** Jobs whose notification waits to be taken, oldest first. */
  notifications(): readonly string[] {
    return this.kept.notifications
  }

  dropNotification(jobId: string): void {
    this.kept.notifications = this.kept.notifications.filter((one) => one !== jobId)
  }

  isFull(): boolean {
    return false
  }

  takeRoom(): boolean {
    return true
  }

  /** Different every time, and the same for every repetition of a history. */
  randomBytes(count: number): Uint8Array {
    this.kept.random += 1
    const bytes = new Uint8Array(count)
    new DataView(bytes.buffer).setUint32(0, this.kept.random)
    // Worker ids use five bits of a byte.
    for (let i = 4; i < Math.min(count, 10); i++) bytes[i] = Math.floor(this.kept.random / 32 ** (i - 4)) % 32
    return bytes
  }
}

function asInRow(worker: Worker): Worker {
  if (worker.phase === 'READY') return { ...worker, lastTakeAtMs: takeInRow(worker), watchedUntilMs: null }
  return worker.phase === 'DRAINING' ? { ...worker, watchedUntilMs: null } : worker
}

function nothingKept(): Kept {
  const totals = { completed: 0, failed: 0, retried: 0, superseded: 0 }
  const meta = {
    config: null,
    deleted: false,
    suspended: false,
    totals,
    launch: { failures: 0, notBeforeMs: 0 },
    waits: false,
    seekers: [],
    alarmAtMs: null,
    alarmTrust: null,
    lastEndMs: null,
  }
  const rows = {
    jobs: new Map(),
    renewed: new Map(),
    workers: new Map(),
    seen: new Map(),
    stops: [],
    texts: new Map(),
    chunks: new Map(),
    keys: new Map(),
    notifications: [],
  }
  return { ...rows, lastSequence: 0, meta, random: 0 }
}

function jobRows(kept: Kept): JobRows {
  const queued = () => [...kept.jobs.values()].filter((job) => job.state === 'IN_QUEUE')
  const running = () => [...kept.jobs.values()].filter((job) => job.state === 'IN_PROGRESS')
  const queue = () => queued().sort((a, b) => Number(a.lowPriority) - Number(b.lowPriority) || a.orderKey - b.orderKey)
  const countHeld = (jobs: readonly RunningJob[]) => {
    const counts = new Map<string, number>()
    for (const { holder } of jobs) counts.set(holder.workerId, (counts.get(holder.workerId) ?? 0) + 1)
    return counts
  }
  return {
    get queuedNormal() {
      return queued().filter((job) => !job.lowPriority).length
    },
    get queuedLow() {
      return queued().filter((job) => job.lowPriority).length
    },
    nextSequence: () => ++kept.lastSequence,
    insert: (job, input) => {
      kept.jobs.set(job.seq, job)
      if (input !== undefined) putText(kept, job.seq, INPUT, input)
    },
    save: (before, job) => {
      kept.jobs.set(job.seq, job)
      if (before.state === 'IN_PROGRESS' && job.state === 'IN_PROGRESS' && isRenewal(before, job))
        kept.renewed.set(job.seq, kept.renewed.get(job.seq) ?? before)
      else kept.renewed.delete(job.seq)
    },
    end: (_, job, output) => {
      kept.jobs.set(job.seq, job)
      kept.renewed.delete(job.seq)
      clearTexts(kept, job.seq, canRetry(job) ? [OUTPUT] : [INPUT, OUTPUT, S3_CONFIG])
      if (output !== undefined) putText(kept, job.seq, OUTPUT, output)
    },
    remove: (job) => void kept.jobs.delete(job.seq),
    removeRow: (seq) => void kept.jobs.delete(seq),
    bySeq: (seq) => kept.jobs.get(seq) ?? null,
    bySeqOrThrow: (seq) => kept.jobs.get(seq) ?? null,
    queueHead: (limit) => queue().slice(0, limit),
    queued: (limit) => queued().slice(0, limit),
    running,
    heldBy: (workerId) => running().filter((job) => job.holder.workerId === workerId),
    heldCounts: () => countHeld(running()),
    heldNormalCounts: () => countHeld(running().filter((job) => !job.lowPriority)),
    waitingSinceMs: (limit) =>
      queue()
        .filter((job) => !job.lowPriority)
        .slice(0, Math.max(0, limit))
        .map((job) => job.createdAtMs),
    due: (nowMs, limit) =>
      [...kept.jobs.values()]
        .filter((job) => checkedAtMs(job) <= nowMs)
        .sort((a, b) => checkedAtMs(a) - checkedAtMs(b))
        .slice(0, limit)
        .map((job) => job.seq),
    nextDueAtMs: (dueOf = dueAtMs) =>
      kept.jobs.size === 0
        ? null
        : Math.min(...[...kept.jobs.values()].map((job) => (job.state === 'IN_PROGRESS' ? dueOf(job) : checkedAtMs(job)))),
  }
}

/** When the alarm checks a job: deadlines of running jobs are in memory, all others in rows (LSE-24). */
function checkedAtMs(job: Job): number {
  return job.state === 'IN_PROGRESS' ? dueAtMs(job) : dueInRowMs(job)
}

function workerRows(kept: Kept): WorkerRows {
  const order = (workerId: string, jobId: string) => kept.stops.find((stop) => stop.workerId === workerId && stop.jobId === jobId)
  return {
    all: () => [...kept.workers.values()],
    get: (id) => kept.workers.get(id) ?? null,
    save: (worker) => {
      const inRow = kept.seen.get(worker.id) ?? kept.workers.get(worker.id)
      kept.workers.set(worker.id, worker)
      if (inRow && isSign(inRow, worker)) kept.seen.set(worker.id, inRow)
      else kept.seen.delete(worker.id)
    },
    remove: (id) => {
      kept.workers.delete(id)
      kept.stops = kept.stops.filter((stop) => stop.workerId !== id)
    },
    orderStop: (workerId, jobId, killAtMs) => {
      if (!order(workerId, jobId)) kept.stops.push({ workerId, jobId, delivered: false, killAtMs })
    },
    stops: (workerId) => kept.stops.filter((stop) => stop.workerId === workerId).map((stop) => ({ ...stop })),
    withStops: () => [...new Set(kept.stops.map((stop) => stop.workerId))],
    markDelivered: (workerId) => {
      for (const stop of kept.stops) if (stop.workerId === workerId) stop.delivered = true
    },
    markUndelivered: (workerId, jobId) => {
      const stop = order(workerId, jobId)
      if (stop) stop.delivered = false
    },
    deleteStop: (workerId, jobId) => {
      kept.stops = kept.stops.filter((stop) => stop.workerId !== workerId || stop.jobId !== jobId)
    },
  }
}

function putText(kept: Kept, job: number, kind: PayloadKind, text: string): void {
  kept.texts.set(`${job} ${kind}`, text)
}

function clearTexts(kept: Kept, job: number, kinds: readonly PayloadKind[]): void {
  for (const kind of kinds) kept.texts.delete(`${job} ${kind}`)
}

function payloadRows(kept: Kept): PayloadRows {
  return {
    setOutput: (job, text) => putText(kept, job, OUTPUT, text),
    setS3Config: (job, sealed) => putText(kept, job, S3_CONFIG, sealed),
    get: (job, kind) => kept.texts.get(`${job} ${kind}`),
    clearAttempt: (job) => {
      clearTexts(kept, job, [OUTPUT])
      kept.chunks.delete(job)
    },
    clearJob: (job) => {
      clearTexts(kept, job, [INPUT, OUTPUT, S3_CONFIG])
      kept.chunks.delete(job)
    },
    appendChunk: (job, _, json) => {
      kept.chunks.set(job, [...(kept.chunks.get(job) ?? []), json])
      return true
    },
  }
}

function metaValues({ meta }: Kept): MetaValues {
  return {
    config: () => meta.config,
    setConfig: (config) => {
      meta.config = config
    },
    deleted: () => meta.deleted,
    setDeleted: () => {
      meta.deleted = true
    },
    suspended: () => meta.suspended,
    setSuspended: (isSuspended) => {
      meta.suspended = isSuspended
    },
    idMask: () => [1, 2],
    totals: () => ({ ...meta.totals }),
    add: (name, by = 1, endedAtMs = meta.lastEndMs) => {
      meta.totals[name] += by
      meta.lastEndMs = endedAtMs
    },
    launch: () => meta.launch,
    setLaunch: (state) => {
      meta.launch = state
    },
    waitsForCapacity: () => meta.waits,
    setWaitsForCapacity: (waits) => {
      meta.waits = waits
    },
    capacitySeekers: () => meta.seekers,
    setCapacitySeekers: (seekers) => {
      meta.seekers = seekers
    },
    alarmAtMs: () => meta.alarmAtMs,
    setAlarmAtMs: (atMs, trust = null) => {
      meta.alarmAtMs = atMs
      meta.alarmTrust = atMs === null ? null : trust
    },
    alarmTrust: () => meta.alarmTrust,
    lastEndMs: () => meta.lastEndMs,
  }
}
