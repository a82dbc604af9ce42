import type { HostEvent } from '../domain/host/event.ts'
import { requeueNotBeforeMs } from '../domain/host/presence.ts'
import { holdLease } from '../domain/job/job.ts'
import { isLive, type Worker } from '../domain/worker/worker.ts'
import { drainWorker, failWorker, settleJob } from './transitions.ts'
import type { Tx } from './tx.ts'
import { tellWorker } from './worker-rows.ts'

/** Applies what has become of the machine of some workers. Repeats are harmless. */
export function applyHostEvent(tx: Tx, workerIds: readonly string[], event: HostEvent): void {
  tx.effects.scale = true
  for (const id of workerIds) {
    const worker = tx.state.workers.get(id)
    if (worker) applyToWorker(tx, worker, event)
  }
}

function applyToWorker(tx: Tx, worker: Worker, event: HostEvent): void {
  switch (event.kind) {
    case 'silent':
      holdWork(tx, worker, event.sinceMs)
      return
    case 'offline':
      holdWork(tx, worker, event.sinceMs)
      // It would be waited for until its host returned; another may start elsewhere.
      if (hasNotStarted(worker)) failWorker(tx, worker, 'its host went offline before it started')
      return
    case 'lost':
      if (isLive(worker)) failWorker(tx, worker, 'its host was lost')
      return
    case 'draining':
      drainWorker(tx, worker, 'its host is being drained')
      return
    default:
      event satisfies never
  }
}

// HOST-36: a host that cannot reach the plane stops its workers by a deadline of its own. Before that their silence proves nothing.
function holdWork(tx: Tx, worker: Worker, sinceMs: number): void {
  if (worker.phase !== 'READY' && worker.phase !== 'DRAINING') return
  const untilMs = requeueNotBeforeMs(sinceMs)
  tellWorker(tx, worker.id, { kind: 'excused', untilMs })
  for (const { seq } of tx.state.jobs.heldBy(worker.id)) {
    settleJob(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (job?.state === 'IN_PROGRESS') tx.state.jobs.save(job, holdLease(job, untilMs))
  }
}

function hasNotStarted(worker: Worker): boolean {
  return (worker.phase === 'PLACING' || worker.phase === 'STARTING') && worker.startedAtMs === null
}
