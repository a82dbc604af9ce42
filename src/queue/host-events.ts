import type { EndpointCore } from '../../durable-objects/endpoint/core.ts'
import type { HostEvent } from '../domain/host/event.ts'
import { requeueNotBeforeMs } from '../domain/host/presence.ts'
import { holdLease } from '../domain/job/job.ts'
import { isLive, type Worker } from '../domain/worker/worker.ts'
import type { Effects } from './effects.ts'
import { drainWorker, failWorker } from './transitions.ts'

/** Applies what has become of the machine of some workers, inside a transaction. Repeats are harmless. */
export function applyHostEvent(core: EndpointCore, workerIds: readonly string[], event: HostEvent, effects: Effects): void {
  effects.scale = true
  for (const id of workerIds) {
    const worker = core.workers.get(id)
    if (worker) applyToWorker(core, worker, event, effects)
  }
}

function applyToWorker(core: EndpointCore, worker: Worker, event: HostEvent, effects: Effects): void {
  const nowMs = core.now()
  switch (event.kind) {
    case 'silent':
      holdWork(core, worker, event.sinceMs, effects)
      return
    case 'offline':
      holdWork(core, worker, event.sinceMs, effects)
      // It would be waited for until its host returned; another may start elsewhere.
      if (hasNotStarted(worker)) failWorker(core, worker, 'its host went offline before it started', nowMs, effects)
      return
    case 'lost':
      if (isLive(worker)) failWorker(core, worker, 'its host was lost', nowMs, effects)
      return
    case 'draining':
      drainWorker(core, worker, 'its host is being drained', nowMs, effects)
      return
    default:
      event satisfies never
  }
}

// HOST-36: a host that cannot reach the plane stops its workers by a deadline of its own. Before that their silence proves nothing.
function holdWork(core: EndpointCore, worker: Worker, sinceMs: number, effects: Effects): void {
  if (worker.phase !== 'READY' && worker.phase !== 'DRAINING') return
  const untilMs = requeueNotBeforeMs(sinceMs)
  core.workers.save({ ...worker, excusedUntilMs: Math.max(worker.excusedUntilMs ?? 0, untilMs) })
  for (const { seq } of core.jobs.heldBy(worker.id)) {
    core.settle(seq, effects)
    const job = core.jobs.bySeq(seq)
    if (job?.state === 'IN_PROGRESS') core.jobs.save(job, holdLease(job, untilMs))
  }
}

function hasNotStarted(worker: Worker): boolean {
  return (worker.phase === 'PLACING' || worker.phase === 'STARTING') && worker.startedAtMs === null
}
