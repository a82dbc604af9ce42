import type { HostEvent } from '../../domain/host/event.ts'
import { requeueNotBeforeMs } from '../../domain/host/presence.ts'
import { holdLease, resumeLease } from '../../domain/job/lease.ts'
import { isExcused, isLive, type Worker } from '../../domain/worker/worker.ts'
import { recallStanding } from '../standing.ts'
import { applyJobDeadlines, drainWorker, failWorker, HOST_LOST } from '../transitions.ts'
import type { Tx } from '../tx.ts'
import { applyWorkerEvent, silenceLimitMs } from '../worker-rows.ts'

/** Applies a change of a host to its workers. Idempotent. */
export function applyHostEvent(tx: Tx, workerIds: readonly string[], event: HostEvent): void {
  tx.effects.scale = true
  for (const id of workerIds) {
    const worker = tx.state.workers.get(id)
    if (!worker) continue
    // The channel of a silent host may have ended unnoticed, and a host that returns changes the terms of its workers.
    if (event.kind !== 'lost') recallStanding(tx, [id])
    applyToWorker(tx, tx.state.workers.get(id) ?? worker, event)
  }
}

function applyToWorker(tx: Tx, worker: Worker, event: HostEvent): void {
  switch (event.kind) {
    case 'silent':
      holdWork(tx, worker, event)
      return
    case 'offline':
      holdWork(tx, worker, event)
      // It would otherwise wait until its host returned; a replacement may start elsewhere.
      if (hasNotStarted(worker)) failWorker(tx, worker, 'its host went offline before it started')
      return
    case 'heard':
      releaseWork(tx, worker)
      return
    case 'lost':
      if (isLive(worker) && !isExcused(worker, tx.nowMs)) failWorker(tx, worker, 'its host was lost', HOST_LOST)
      return
    case 'draining':
      drainWorker(tx, worker, 'its host is being drained')
      return
    default:
      event satisfies never
  }
}

// HOST-36: a host that cannot reach the plane stops its workers by deadlines of its own. Until then, their silence proves nothing.
function holdWork(tx: Tx, worker: Worker, { sinceMs, waitMaxMs }: Extract<HostEvent, { kind: 'silent' | 'offline' }>): void {
  if (worker.phase !== 'READY' && worker.phase !== 'DRAINING') return
  const untilMs = (startedAtMs: number | null) => requeueNotBeforeMs(sinceMs, startedAtMs, waitMaxMs)
  const held = tx.state.jobs.heldBy(worker.id)
  // The worker is excused as long as any of its jobs: one with an earlier deadline must not end the others.
  const waits = held.map(({ startedAtMs }) => untilMs(startedAtMs))
  applyWorkerEvent(tx, worker.id, { kind: 'host silent', untilMs: Math.max(untilMs(null), ...waits) })
  for (const { seq } of held) {
    applyJobDeadlines(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (job?.state === 'IN_PROGRESS') tx.state.jobs.save(job, holdLease(job, untilMs(job.startedAtMs)))
  }
}

// The host is back: from here on, a silent worker is itself at fault. It gets the time of one more lease to ping.
function releaseWork(tx: Tx, worker: Worker): void {
  if (!isExcused(worker, tx.nowMs)) return
  const untilMs = tx.nowMs + silenceLimitMs(tx.state)
  applyWorkerEvent(tx, worker.id, { kind: 'host returned', untilMs })
  for (const { seq } of tx.state.jobs.heldBy(worker.id)) {
    applyJobDeadlines(tx, seq)
    const job = tx.state.jobs.bySeq(seq)
    if (job?.state === 'IN_PROGRESS') tx.state.jobs.save(job, resumeLease(job, untilMs))
  }
}

function hasNotStarted(worker: Worker): boolean {
  return (worker.phase === 'PLACING' || worker.phase === 'STARTING') && worker.startedAtMs === null
}
