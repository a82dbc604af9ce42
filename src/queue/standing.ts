import type { Holder } from '../domain/job/job.ts'
import { shortenLease, watchLease } from '../domain/job/lease.ts'
import type { Worker } from '../domain/worker/worker.ts'
import type { AlarmTrust, QueueState } from './state.ts'
import type { Tx } from './tx.ts'
import { applyWorkerEvent, silenceLimitMs, workerOf } from './worker-rows.ts'

/**
 * Standing pings (CHN-30): the agent of a worker's host answers for a worker that sends the same ping again and again, so that the object
 * need not wake for them. A standing ping renews the leases that it lists until the agent withdraws it, its channel ends, or the object
 * asks for pings again.
 */

/** How long a standing ping counts, milliseconds. Shortly before its end the object asks the agent for pings. */
export const WATCH_MS = 1_800_000

/**
 * Trusts the workers whose channel has outlived the memory of the queue: their agents answered for their pings until now, and are asked
 * whether they still do. The trust ends as long after the last frame of the agent as a standing ping.
 */
export function trustUnheard(tx: Tx): void {
  const { jobs, workers } = tx.state
  for (const worker of workers.all()) {
    const untilMs = trustedUntilMs(tx.state, worker)
    if (untilMs > tx.nowMs) watchUntil(tx, worker.id, new Set(jobs.heldBy(worker.id).map(({ id }) => id)), untilMs)
  }
}

// A worker whose agent has withdrawn its ping says so in its row.
function trustedUntilMs(state: Pick<QueueState, 'unheardHosts'>, worker: Worker): number {
  const heardAtMs = worker.hostId === null ? undefined : state.unheardHosts().get(worker.hostId)
  const isDoubted = !('loadedAtMs' in worker) || worker.loadedAtMs !== null
  return heardAtMs === undefined || isDoubted ? 0 : heardAtMs + WATCH_MS
}

/** An agent answers for a ping of a worker that lists these jobs. */
export function watch(tx: Tx, workerId: string, listed: ReadonlySet<string>): void {
  watchUntil(tx, workerId, listed, tx.nowMs + WATCH_MS)
}

function watchUntil(tx: Tx, workerId: string, listed: ReadonlySet<string>, untilMs: number): void {
  applyWorkerEvent(tx, workerId, { kind: 'watched', untilMs })
  const { jobs } = tx.state
  for (const job of jobs.heldBy(workerId)) if (listed.has(job.id)) jobs.save(job, watchLease(job, untilMs))
}

/** The agent does not answer for a worker any more, which sent its last ping at `seenAtMs`. Its terms begin there (LSE-4, LSE-7). */
export function endStanding(tx: Tx, { id }: Pick<Worker, 'id'>, seenAtMs: number): void {
  const worker = tx.state.workers.get(id)
  if (worker === null || !isWatched(worker)) return
  const limitMs = silenceLimitMs(tx.state)
  // An agent that has not answered when it was asked, before the end of the standing ping, has said nothing since.
  const lastMs = Math.min(seenAtMs, worker.watchedUntilMs - limitMs)
  applyWorkerEvent(tx, id, { kind: 'unwatched', seenAtMs: lastMs })
  const untilMs = lastMs + limitMs
  const { jobs } = tx.state
  for (const job of jobs.heldBy(id)) jobs.save(job, shortenLease(job, untilMs))
}

/** The agent of a host has named the workers whose pings stand. It does not answer for the other workers of this host. */
export function keepStanding(tx: Tx, hostId: string, standing: readonly Holder[]): void {
  const named = new Set(standing.flatMap((from) => workerOf(tx.state, from)?.id ?? []))
  const others = tx.state.workers.all().filter((worker) => worker.hostId === hostId && !named.has(worker.id))
  // Pings may cross the hello.
  recallStanding(
    tx,
    others.map(({ id }) => id),
  )
}

/** The channel of a host has ended, and with it the standing pings and open takes of its workers. */
export function endHostStanding(tx: Tx, hostId: string): void {
  keepStanding(tx, hostId, [])
  for (const worker of tx.state.workers.all()) if (worker.hostId === hostId) noteEndOfTake(tx, worker.id)
}

/** Asks the agents of workers for pings, because something has made the standing ones doubtful. Until one comes, the usual terms count. */
export function recallStanding(tx: Tx, workerIds: readonly string[]): void {
  for (const id of workerIds) {
    const worker = tx.state.workers.get(id)
    if (worker === null || !isWatched(worker)) continue
    endStanding(tx, worker, tx.nowMs)
    tx.effects.recalls.add(id)
  }
}

/** Asks for pings of the workers whose standing ping ends soon. */
export function recallEnding(tx: Tx): void {
  for (const worker of tx.state.workers.all()) {
    const atMs = recallAtMs(tx.state, worker)
    if (atMs !== null && tx.nowMs >= atMs) tx.effects.recalls.add(worker.id)
  }
}

/** When the agent of a worker has to be asked for pings; null: no agent answers for it. */
export function recallAtMs(state: Pick<QueueState, 'pingIntervalMs'>, worker: Worker): number | null {
  return isWatched(worker) ? worker.watchedUntilMs - silenceLimitMs(state) : null
}

/** The open take of an idle worker has ended without a job: from now on it counts as one that does not ask for work (WRK-44). */
export function noteEndOfTake(tx: Tx, workerId: string): void {
  const worker = tx.state.workers.get(workerId)
  const isIdle = worker?.phase === 'READY' && worker.idleSinceMs !== null
  if (isIdle && !tx.state.takes.isPolling(workerId)) applyWorkerEvent(tx, workerId, { kind: 'take' })
}

/** Whether the agent of the worker's host is trusted, which has not been heard since the queue was loaded. */
export function isTrusted(state: Pick<QueueState, 'unheardHosts'>, worker: Worker, nowMs: number): boolean {
  return trustedUntilMs(state, worker) > nowMs
}

/** The trust in which the alarm is set (CHN-30); null: no agent answers for a worker. */
export function alarmTrustOf({ state, nowMs }: Pick<Tx, 'state' | 'nowMs'>): AlarmTrust | null {
  const hosts = new Set(state.workers.all().flatMap((worker) => (isWatched(worker) && worker.hostId !== null ? worker.hostId : [])))
  return hosts.size === 0 ? null : { hosts: [...hosts].toSorted(), setAtMs: nowMs }
}

/** Whether an agent answers for the pings of a worker. */
export function isWatched(worker: Worker): worker is Extract<Worker, { watchedUntilMs: number | null }> & { watchedUntilMs: number } {
  return 'watchedUntilMs' in worker && worker.watchedUntilMs !== null
}
