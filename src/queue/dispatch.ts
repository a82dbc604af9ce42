import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import type { ParkedTake } from '../../durable-objects/endpoint/parking.ts'
import { INPUT, S3_CONFIG } from '../../durable-objects/endpoint/store/payload-store.ts'
import type { TakeReply } from '../../durable-objects/endpoint/worker/take-replies.ts'
import { type Assignment, assignJobs, type Taker } from '../domain/job/dispatch.ts'
import { type Job, leaseJob, mayHold } from '../domain/job/job.ts'
import type { Effects } from './effects.ts'
import { drainWorker } from './transitions.ts'

/** Jobs looked at beyond what the open takes can hold, for the case that the first ones may not go to these workers (LSE-9). */
const LOOK_AHEAD = 16
/** Input bytes of one batch reply stay below this; further jobs go out with the next take. */
const MAX_BATCH_CHARS = 20 * 2 ** 20

/** Gives queued jobs to open takes, inside the transaction. Returns the replies to send once it is durable. */
export function dispatch(core: EndpointCore, effects: Effects): TakeReply[] {
  const takes = core.parking.openTakes()
  if (takes.length === 0 || core.jobs.queuedNormal + core.jobs.queuedLow === 0) return []
  const takers = readyTakers(core, takes)
  const wanted = takers.reduce((sum, { taker }) => sum + taker.capacity, 0)
  if (wanted === 0) return []

  const nowMs = core.now()
  const candidates = takers.map(({ taker }) => taker)
  let queued = readHead(core, wanted, nowMs, effects)
  let assignments = assignJobs(queued, candidates)
  // Rarely: the first jobs have expired or were held before by the workers that ask (LSE-9), so later ones have their turn.
  if (assignments.length < wanted && core.jobs.queuedNormal + core.jobs.queuedLow > queued.length) {
    queued = readHead(core, wanted + LOOK_AHEAD, nowMs, effects)
    assignments = assignJobs(queued, candidates)
  }
  makeRoom(core, queued, candidates, assignments, nowMs, effects)
  const replies = new Map<ParkedTake, TakeReply>()
  const sizes = new Map<ParkedTake, number>()
  for (const { takerIndex, job } of assignments) {
    const entry = takers[takerIndex]
    if (!entry) continue
    const size = sizes.get(entry.take) ?? 0
    if (size > MAX_BATCH_CHARS) continue
    const input = core.payloads.get(job.seq, INPUT) ?? '{}'
    sizes.set(entry.take, size + input.length)
    core.jobs.save(job, leaseJob(job, entry.taker, nowMs, core.leaseTimes))
    core.workers.setIdleSince(entry.taker.workerId, null)
    effects.scale = true
    const reply = replies.get(entry.take) ?? { take: entry.take, jobs: [] }
    replies.set(entry.take, reply)
    const sealed = job.hasS3Config ? (core.payloads.get(job.seq, S3_CONFIG) ?? null) : null
    reply.jobs.push({ jobId: job.id, text: `{"id":${JSON.stringify(job.id)},"input":${input}`, sealed })
  }
  return [...replies.values()]
}

/** The first jobs of the queue; those whose time is over are settled and left out. */
function readHead(core: EndpointCore, limit: number, nowMs: number, effects: Effects): Job[] {
  const head = core.jobs.queueHead(limit)
  for (const job of head) if (nowMs >= job.ttlAtMs) core.settle(job.seq, effects)
  return head.filter((job) => nowMs < job.ttlAtMs)
}

// LSE-9: when a queued job was held before by every worker that could take it, one of them is replaced, or it would wait for ever beside
// idle workers.
function makeRoom(
  core: EndpointCore,
  queued: readonly Job[],
  takers: readonly Taker[],
  assignments: readonly Assignment[],
  nowMs: number,
  effects: Effects,
): void {
  const given = new Set(assignments.map((assignment) => assignment.takerIndex))
  const idle = takers.find((taker, index) => taker.held === 0 && !given.has(index))
  const worker = idle && core.workers.get(idle.workerId)
  if (!worker) return
  const others = core.workers.all().filter((w) => w.phase === 'PLACING' || w.phase === 'STARTING' || w.phase === 'READY')
  const stuck = queued.find((job) => !others.some((w) => mayHold(job, { workerId: w.id, boot: w.boot })))
  if (stuck) drainWorker(core, worker, `makes room for a worker that may run job ${stuck.id}`, nowMs, effects)
}

function readyTakers(core: EndpointCore, takes: readonly ParkedTake[]): { take: ParkedTake; taker: Taker }[] {
  const held = core.jobs.heldCounts()
  const version = core.config()?.version
  return takes.flatMap((take) => {
    const worker = core.workers.get(take.workerId)
    // SCALE-6: a worker of an old release finishes what it holds and gets nothing new.
    if (worker?.phase !== 'READY' || worker.boot !== take.boot || worker.version !== version) return []
    const taker: Taker = {
      workerId: take.workerId,
      boot: take.boot,
      held: held.get(take.workerId) ?? 0,
      capacity: take.capacity,
      parkedAtMs: take.parkedAtMs,
    }
    return [{ take, taker }]
  })
}
