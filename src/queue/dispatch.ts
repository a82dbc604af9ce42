import { type Assignment, assignJobs, type Taker } from '../domain/job/dispatch.ts'
import type { QueuedJob } from '../domain/job/job.ts'
import { leaseJob, mayHold } from '../domain/job/lease.ts'
import { INPUT, type OpenTake, S3_CONFIG } from './state.ts'
import { applyJobDeadlines, drainWorker } from './transitions.ts'
import { liveConfig, type Tx } from './tx.ts'
import { applyWorkerEvent } from './worker-rows.ts'

/** Number of jobs read beyond the capacity of the open takes, because the first ones may be barred from these workers (LSE-9). */
const LOOK_AHEAD = 16
/** A batch reply takes no further job once its inputs exceed this many characters; the others go out with the next take. */
const MAX_BATCH_CHARS = 20 * 2 ** 20

/** A job as a take returns it: JSON text without its closing brace, and the sealed `s3Config` that goes before that brace. */
export interface TakenJob {
  jobId: string
  text: string
  sealed: string | null
}

/** Jobs for one open take, to be sent once the commit is durable. */
export interface TakeReply {
  take: OpenTake
  jobs: TakenJob[]
}

/** Leases queued jobs to open takes. Returns the replies. */
export function dispatch(tx: Tx): TakeReply[] {
  const { jobs, takes } = tx.state
  const queuedJobs = jobs.queuedNormal + jobs.queuedLow
  if (queuedJobs === 0) return []
  const open = takes.openTakes()
  if (open.length === 0) return []
  const takers = readyTakers(tx, open)
  const wanted = takers.reduce((sum, { capacity }) => sum + capacity, 0)
  if (wanted === 0) return []

  let queued = readHead(tx, wanted)
  let assignments = assignJobs(queued, takers)
  // Rare: the first jobs have expired, or were held before by the asking workers (LSE-9), so later ones are read too.
  if (assignments.length < wanted && jobs.queuedNormal + jobs.queuedLow > queued.length) {
    queued = readHead(tx, wanted + LOOK_AHEAD)
    assignments = assignJobs(queued, takers)
  }
  makeRoom(tx, queued, takers, assignments)
  if (assignments.length > 0) removeFailedStarts(tx)
  return lease(tx, takers, assignments)
}

// LSE-31: a start that took a job is no failed start.
function removeFailedStarts({ state }: Tx): void {
  if (state.meta.launch().failures > 0) state.meta.setLaunch({ failures: 0, notBeforeMs: 0 })
}

interface ReadyTaker extends Taker {
  take: OpenTake
}

function lease(tx: Tx, takers: readonly ReadyTaker[], assignments: readonly Assignment[]): TakeReply[] {
  const { jobs, payloads, pingIntervalMs } = tx.state
  const replies = new Map<OpenTake, TakeReply>()
  const sizes = new Map<OpenTake, number>()
  for (const { takerIndex, job } of assignments) {
    const taker = takers[takerIndex]
    if (!taker) continue
    const { take, workerId, boot } = taker
    const size = sizes.get(take) ?? 0
    if (size > MAX_BATCH_CHARS) continue
    // Read back even when this very commit has inserted it: a single path is simpler, and the page is still in memory.
    const input = payloads.get(job.seq, INPUT) ?? '{}'
    sizes.set(take, size + input.length)
    jobs.save(job, leaseJob(job, { workerId, boot }, tx.nowMs, { pingIntervalMs }))
    applyWorkerEvent(tx, workerId, { kind: 'busy' })
    tx.effects.scale = true
    const reply = replies.get(take) ?? { take, jobs: [] }
    replies.set(take, reply)
    const sealed = job.hasS3Config ? (payloads.get(job.seq, S3_CONFIG) ?? null) : null
    reply.jobs.push({ jobId: job.id, text: `{"id":${JSON.stringify(job.id)},"input":${input}`, sealed })
  }
  return [...replies.values()]
}

/** First jobs of the queue; expired ones are ended and left out. */
function readHead(tx: Tx, limit: number): QueuedJob[] {
  const head = tx.state.jobs.queueHead(limit)
  for (const job of head) if (tx.nowMs >= job.ttlAtMs) applyJobDeadlines(tx, job.seq)
  return head.filter((job) => tx.nowMs < job.ttlAtMs)
}

// LSE-9: when a queued job was held before by every worker that could take it, one of these workers is replaced; otherwise the job would
// wait forever beside idle workers (LSE-32).
function makeRoom(tx: Tx, queued: readonly QueuedJob[], takers: readonly Taker[], assignments: readonly Assignment[]): void {
  const given = new Set(assignments.map((assignment) => assignment.takerIndex))
  const idle = takers.find((taker, index) => taker.held === 0 && !given.has(index))
  const worker = idle && tx.state.workers.get(idle.workerId)
  if (!worker) return
  const others = tx.state.workers.all().filter((w) => w.phase === 'PLACING' || w.phase === 'STARTING' || w.phase === 'READY')
  const stuck = queued.find((job) => !others.some((w) => mayHold(job, { workerId: w.id, boot: w.boot })))
  if (stuck) drainWorker(tx, worker, `makes room for a worker that may run job ${stuck.id}`)
}

function readyTakers({ state }: Tx, takes: readonly OpenTake[]): ReadyTaker[] {
  const held = state.jobs.heldCounts()
  const version = liveConfig(state)?.version
  return takes.flatMap((take) => {
    const worker = state.workers.get(take.workerId)
    // SCALE-6: a worker of an old release finishes its jobs and gets no new ones.
    if (worker?.phase !== 'READY' || worker.boot !== take.boot || worker.version !== version) return []
    const { workerId, boot, capacity, parkedAtMs } = take
    return [{ take, workerId, boot, held: held.get(workerId) ?? 0, capacity, parkedAtMs }]
  })
}
