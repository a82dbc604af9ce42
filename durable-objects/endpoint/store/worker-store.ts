import type { Worker, WorkerPhase } from '../../../src/domain/worker/worker.ts'

type Row = Record<string, SqlStorageValue>

export interface StopOrder {
  workerId: string
  jobId: string
  told: boolean
  killAtMs: number
}

/**
 * Rows of `workers` and of the stop orders that they have still to hear. An endpoint has few workers and every commit looks at all of them
 * several times, so they are kept in memory until a row changes.
 */
export class WorkerStore {
  private readonly sql: SqlStorage
  private known: Map<string, Worker> | null = null
  private stopped: string[] | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** After a transaction that was rolled back. */
  reload(): void {
    this.known = null
    this.stopped = null
  }

  all(): Worker[] {
    return [...this.byId().values()]
  }

  /** Workers that ask for work or do it. */
  readyCount(): number {
    return this.all().filter((worker) => worker.phase === 'READY').length
  }

  get(id: string): Worker | null {
    return this.byId().get(id) ?? null
  }

  save(w: Worker): void {
    this.known = null
    this.sql.exec(
      `INSERT OR REPLACE INTO workers (id, boot, version, phase, host_id, gpu_type_id, data_center_id, created_at, started_at, last_seen_at,
         idle_since, reason, next_attempt_at, attempts, forget_at, released, last_take_at, image, gpu_count,
         excused_until)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      w.id,
      w.boot,
      w.version,
      w.phase,
      w.hostId,
      w.gpuTypeId,
      w.dataCenterId,
      w.createdAtMs,
      w.startedAtMs,
      w.lastSeenAtMs,
      w.idleSinceMs,
      w.reason,
      w.nextAttemptAtMs,
      w.attempts,
      w.forgetAtMs,
      w.released ? 1 : 0,
      w.lastTakeAtMs,
      w.image,
      w.gpuCount,
      w.excusedUntilMs,
    )
  }

  /** The frequent write of a ping, without touching the rest of the row. */
  seen(id: string, atMs: number): void {
    this.sql.exec('UPDATE workers SET last_seen_at = ? WHERE id = ?', atMs, id)
    this.change(id, { lastSeenAtMs: atMs })
  }

  /** A take shows that work is wanted. It is no ping: a worker whose pings have stopped cannot keep a job (LSE-7). */
  asked(id: string, atMs: number): void {
    this.sql.exec('UPDATE workers SET last_take_at = ? WHERE id = ?', atMs, id)
    this.change(id, { lastTakeAtMs: atMs })
  }

  setIdleSince(id: string, atMs: number | null): void {
    this.sql.exec('UPDATE workers SET idle_since = ? WHERE id = ?', atMs, id)
    this.change(id, { idleSinceMs: atMs })
  }

  remove(id: string): void {
    this.sql.exec('DELETE FROM workers WHERE id = ?', id)
    this.sql.exec('DELETE FROM stops WHERE worker_id = ?', id)
    this.reload()
  }

  /** Orders a stop; the kill time of the first order stands. */
  orderStop(workerId: string, jobId: string, killAtMs: number): void {
    this.sql.exec('INSERT OR IGNORE INTO stops (worker_id, job_id, told, kill_at) VALUES (?, ?, 0, ?)', workerId, jobId, killAtMs)
    this.stopped = null
  }

  /** Workers that were told to stop a job and have been pinging it, or may be. */
  withStops(): string[] {
    this.stopped ??= this.sql
      .exec('SELECT DISTINCT worker_id FROM stops')
      .toArray()
      .map((row) => String(row.worker_id))
    return this.stopped
  }

  stops(workerId: string): StopOrder[] {
    return this.sql
      .exec('SELECT * FROM stops WHERE worker_id = ?', workerId)
      .toArray()
      .map((row) => ({ workerId, jobId: String(row.job_id), told: row.told === 1, killAtMs: Number(row.kill_at) }))
  }

  markTold(workerId: string): void {
    this.sql.exec('UPDATE stops SET told = 1 WHERE worker_id = ?', workerId)
  }

  sayAgain(workerId: string, jobId: string): void {
    this.sql.exec('UPDATE stops SET told = 0 WHERE worker_id = ? AND job_id = ?', workerId, jobId)
  }

  forgetStop(workerId: string, jobId: string): void {
    this.sql.exec('DELETE FROM stops WHERE worker_id = ? AND job_id = ?', workerId, jobId)
    this.stopped = null
  }

  private byId(): Map<string, Worker> {
    this.known ??= new Map(
      this.sql
        .exec('SELECT * FROM workers ORDER BY created_at, id')
        .toArray()
        .map((row) => [String(row.id), toWorker(row)]),
    )
    return this.known
  }

  private change(id: string, change: Partial<Worker>): void {
    const worker = this.known?.get(id)
    if (worker) this.known?.set(id, { ...worker, ...change })
  }
}

function toWorker(row: Row): Worker {
  const text = (value: SqlStorageValue | undefined) => (typeof value === 'string' ? value : null)
  const number = (value: SqlStorageValue | undefined) => (typeof value === 'number' ? value : null)
  return {
    id: String(row.id),
    boot: String(row.boot),
    version: Number(row.version),
    image: String(row.image),
    gpuCount: Number(row.gpu_count),
    phase: String(row.phase) as WorkerPhase,
    hostId: text(row.host_id),
    gpuTypeId: text(row.gpu_type_id),
    dataCenterId: text(row.data_center_id),
    createdAtMs: Number(row.created_at),
    startedAtMs: number(row.started_at),
    lastSeenAtMs: number(row.last_seen_at),
    idleSinceMs: number(row.idle_since),
    reason: text(row.reason),
    nextAttemptAtMs: Number(row.next_attempt_at),
    attempts: Number(row.attempts),
    forgetAtMs: number(row.forget_at),
    released: row.released === 1,
    lastTakeAtMs: number(row.last_take_at),
    excusedUntilMs: number(row.excused_until),
  }
}
