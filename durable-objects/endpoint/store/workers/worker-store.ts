import { hasSignsOnly, isSign, takeInRow } from '../../../../src/domain/worker/signs.ts'
import type { ReadyWorker, Worker } from '../../../../src/domain/worker/worker.ts'
import type { StopOrder, WorkerRows } from '../../../../src/queue/state.ts'
import type { TimelineStore } from '../timeline-store.ts'
import type { Undo } from '../undo.ts'
import { PastWorkers } from './past-workers.ts'
import { WorkerLives } from './worker-lives.ts'
import { toColumns, toWorker } from './worker-row.ts'

/**
 * Rows of `workers` and of their pending stop orders. An endpoint has few workers and every commit reads all of them several times, so they
 * are in memory, with their latest heartbeats, which no row has (LSE-24).
 */
export class WorkerStore implements WorkerRows {
  private readonly sql: SqlStorage
  private readonly previous: PastWorkers
  private readonly timeline: TimelineStore
  readonly lives: WorkerLives
  private readonly undo: Undo
  private nowMs = 0
  private known: Map<string, Worker>
  /** The workers as their rows have them. */
  private readonly written: Map<string, Worker>
  private stopped: string[] | null = null
  /** Workers that the current commit has changed; null outside a commit, when rows are written at once. */
  private changed: Set<string> | null = null

  constructor(sql: SqlStorage, timeline: TimelineStore, undo: Undo) {
    this.sql = sql
    this.timeline = timeline
    this.undo = undo
    this.previous = new PastWorkers(sql)
    this.lives = new WorkerLives(sql)
    const rows = sql.exec('SELECT * FROM workers ORDER BY created_at, id /* plan: an endpoint has few, and this is read once */').toArray()
    this.known = new Map(rows.map((row) => [String(row.id), toWorker(row)]))
    this.written = new Map(this.known)
  }

  /** Called at the start of every commit. */
  begin(nowMs: number): void {
    this.nowMs = nowMs
    this.changed = new Set()
  }

  /** Drops the cached stop orders after a rollback. */
  reload(): void {
    this.stopped = null
  }

  all(): Worker[] {
    return [...this.known.values()]
  }

  /** Number of workers that poll or run jobs. */
  readyCount(): number {
    return this.all().filter((worker) => worker.phase === 'READY').length
  }

  get(id: string): Worker | null {
    return this.known.get(id) ?? null
  }

  /** Whether a worker is present or has left within the retention time (LOG-21). */
  recall(id: string): 'present' | 'former' | null {
    if (this.get(id)) return 'present'
    return this.previous.has(id) ? 'former' : null
  }

  save(worker: Worker): void {
    const before = this.get(worker.id)
    if (this.changed && this.written.has(worker.id)) this.changed.add(worker.id)
    else this.saveChange(worker)
    this.lives.note(before, worker, this.nowMs)
    this.timeline.workerChanged(before, worker, this.nowMs)
    this.keep(worker.id, worker)
  }

  /** Called at the end of every commit: a worker that changed several times is written once. */
  end(): void {
    for (const id of this.changed ?? []) {
      const worker = this.known.get(id)
      if (worker) this.saveChange(worker)
    }
    this.changed = null
  }

  /** Called after a rolled-back commit. */
  abandon(): void {
    this.changed = null
  }

  private saveChange(worker: Worker): void {
    const inRow = this.written.get(worker.id)
    if (!inRow || !isSign(inRow, worker)) this.saveRow(inRow, worker)
  }

  private saveRow(inRow: Worker | undefined, worker: Worker): void {
    if (inRow && worker.phase === 'READY' && hasSignsOnly(inRow, worker)) this.stir(worker)
    else this.write(worker)
    this.note(worker.id, worker)
  }

  private note(id: string, worker: Worker | undefined): void {
    const before = this.written.get(id)
    this.undo.note(() => put(this.written, id, before))
    put(this.written, id, worker)
  }

  private keep(id: string, worker: Worker | undefined): void {
    const all = this.known
    const before = all.get(id)
    if (before && worker) {
      this.undo.note(() => all.set(id, before))
      all.set(id, worker)
      return
    }
    this.undo.note(() => {
      this.known = all
    })
    const others = [...all.values()].filter((other) => other.id !== id)
    // A new worker is inserted in the order of the rows.
    const listed = worker ? [...others, worker].sort(inOrder) : others
    this.known = new Map(listed.map((each) => [each.id, each]))
  }

  /** The frequent write for a take or a job; leaves the other columns unchanged. */
  private stir(worker: ReadyWorker): void {
    const query = 'UPDATE workers SET last_seen_at = ?, last_take_at = ?, idle_since = ? WHERE id = ?'
    this.sql.exec(query, worker.lastSeenAtMs, takeInRow(worker), worker.idleSinceMs, worker.id)
  }

  private write(worker: Worker): void {
    const columns = toColumns(worker)
    const names = Object.keys(columns)
    const query = `INSERT OR REPLACE INTO workers (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    this.sql.exec(query, ...Object.values(columns))
  }

  remove(id: string): void {
    const worker = this.get(id)
    if (worker) this.timeline.workerLeft(worker, this.nowMs)
    this.sql.exec('DELETE FROM workers WHERE id = ?', id)
    this.previous.add(id, this.nowMs)
    this.lives.leave(id, this.nowMs)
    this.sql.exec('DELETE FROM stops WHERE worker_id = ?', id)
    this.stopped = null
    this.note(id, undefined)
    this.keep(id, undefined)
  }

  /** Orders a stop; the kill time of the first order stands. */
  orderStop(workerId: string, jobId: string, killAtMs: number): void {
    this.sql.exec('INSERT OR IGNORE INTO stops (worker_id, job_id, told, kill_at) VALUES (?, ?, 0, ?)', workerId, jobId, killAtMs)
    this.stopped = null
  }

  /** Workers with stop orders for jobs that they run, or may run. */
  withStops(): string[] {
    this.stopped ??= this.sql
      .exec('SELECT DISTINCT worker_id FROM stops /* plan: stops last seconds, and this is kept in memory */')
      .toArray()
      .map((row) => String(row.worker_id))
    return this.stopped
  }

  stops(workerId: string): StopOrder[] {
    return this.sql
      .exec('SELECT * FROM stops WHERE worker_id = ?', workerId)
      .toArray()
      .map((row) => ({ workerId, jobId: String(row.job_id), delivered: row.told === 1, killAtMs: Number(row.kill_at) }))
  }

  markDelivered(workerId: string): void {
    this.sql.exec('UPDATE stops SET told = 1 WHERE worker_id = ?', workerId)
  }

  markUndelivered(workerId: string, jobId: string): void {
    this.sql.exec('UPDATE stops SET told = 0 WHERE worker_id = ? AND job_id = ?', workerId, jobId)
  }

  deleteStop(workerId: string, jobId: string): void {
    this.sql.exec('DELETE FROM stops WHERE worker_id = ? AND job_id = ?', workerId, jobId)
    this.stopped = null
  }
}

function put(workers: Map<string, Worker>, id: string, worker: Worker | undefined): void {
  if (worker) workers.set(id, worker)
  else workers.delete(id)
}

function inOrder(a: Worker, b: Worker): number {
  return a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)
}
