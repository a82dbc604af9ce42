import { type Assignment, assignJobs, type Taker } from '../domain/job/dispatch.ts'
import { type Job, leaseJob, mayHold } from '../domain/job/job.ts'
import { INPUT, type OpenTake, S3_CONFIG } from './state.ts'
import { drainWorker, settleJob } from './transitions.ts'
import { liveConfig, type Tx } from './tx.ts'
import { tellWorker } from './worker-rows.ts'

/** Jobs looked at beyond what the open takes can hold, for the case that the first ones may not go to these workers (LSE-9). */
const LOOK_AHEAD = 16
/** Input bytes of one batch reply stay below this; further jobs go out with the next take. */
const MAX_BATCH_CHARS = 20 * 2 ** 20

/** One job as a take hands it out: JSON text but for its closing brace, and the sealed `s3Config` that belongs in front of that. */
export interface TakenJob {
  jobId: string
  text: string
  sealed: string | null
}

/** What one open take gets, to be sent once it is durable. */
export interface TakeReply {
  take: OpenTake
  jobs: TakenJob[]
}

/** Gives queued jobs to open takes. Returns the replies. */
export function dispatch(tx: Tx): TakeReply[] {
  const { jobs, takes } = tx.state
  const queuedJobs = jobs.queuedNormal + jobs.queuedLow
  if (queuedJobs === 0) return []
  const open = takes.open()
  if (open.length === 0) return []
  const takers = readyTakers(tx, open)
  const wanted = takers.reduce((sum, { capacity }) => sum + capacity, 0)
  if (wanted === 0) return []

  let queued = readHead(tx, wanted)
  let assignments = assignJobs(queued, takers)
  // Rarely: the first jobs have expired or were held before by the workers that ask (LSE-9), so later ones have their turn.
  if (assignments.length < wanted && jobs.queuedNormal + jobs.queuedLow > queued.length) {
    queued = readHead(tx, wanted + LOOK_AHEAD)
    assignments = assignJobs(queued, takers)
  }
  makeRoom(tx, queued, takers, assignments)
  if (assignments.length > 0) forgetFailedStarts(tx)
  return lease(tx, takers, assignments)
}

// PP-176: a start that took a job is no failed one.
function forgetFailedStarts({ state }: Tx): void {
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
    // Read back even when this very commit has inserted it: one way is simpler than two, and the page is still in memory.
    const input = payloads.get(job.seq, INPUT) ?? '{}'
    sizes.set(take, size + input.length)
    jobs.save(job, leaseJob(job, { workerId, boot }, tx.nowMs, { pingIntervalMs }))
    tellWorker(tx, workerId, { kind: 'busy' })
    tx.effects.scale = true
    const reply = replies.get(take) ?? { take, jobs: [] }
    replies.set(take, reply)
    const sealed = job.hasS3Config ? (payloads.get(job.seq, S3_CONFIG) ?? null) : null
    reply.jobs.push({ jobId: job.id, text: `{"id":${JSON.stringify(job.id)},"input":${input}`, sealed })
  }
  return [...replies.values()]
}

/** The first jobs of the queue; those whose time is over are settled and left out. */
function readHead(tx: Tx, limit: number): Job[] {
  const head = tx.state.jobs.queueHead(limit)
  for (const job of head) if (tx.nowMs >= job.ttlAtMs) settleJob(tx, job.seq)
  return head.filter((job) => tx.nowMs < job.ttlAtMs)
}

// LSE-9: when a queued job was held before by every worker that could take it, one of them is replaced, or it would wait for ever beside
// idle workers (PP-15).
function makeRoom(tx: Tx, queued: readonly Job[], takers: readonly Taker[], assignments: readonly Assignment[]): void {
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
    // SCALE-6: a worker of an old release finishes what it holds and gets nothing new.
    if (worker?.phase !== 'READY' || worker.boot !== take.boot || worker.version !== version) return []
    const { workerId, boot, capacity, parkedAtMs } = take
    return [{ take, workerId, boot, held: held.get(workerId) ?? 0, capacity, parkedAtMs }]
  })
}
