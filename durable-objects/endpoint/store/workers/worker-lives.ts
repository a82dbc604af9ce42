import type { WorkerLife } from '../../../../src/domain/job/timeline.ts'
import type { Worker } from '../../../../src/domain/worker/worker.ts'

/** No job record is older than the longest ttl, a week. */
const REMEMBERED_MS = 8 * 24 * 3_600_000

/** Times of each worker's phases, retained as long as a job may refer to them. Written when a phase changes, not per job. */
export class WorkerLives {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Records a new worker or a change of a worker's phase or start. */
  note(before: Worker | null, worker: Worker, nowMs: number): void {
    if (before && before.phase === worker.phase && before.startedAtMs === worker.startedAtMs) return
    const placedAtMs = worker.phase === 'PLACING' ? null : nowMs
    const readyAtMs = worker.phase === 'READY' ? nowMs : null
    this.sql.exec(
      `INSERT INTO worker_lives (id, created_at, placed_at, started_at, ready_at, gpu_type_id, gpu_count, data_center_id, host_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET placed_at = COALESCE(placed_at, excluded.placed_at), started_at = COALESCE(excluded.started_at, started_at),
         ready_at = COALESCE(ready_at, excluded.ready_at), gpu_type_id = excluded.gpu_type_id, data_center_id = excluded.data_center_id,
         host_id = COALESCE(excluded.host_id, host_id)`,
      worker.id,
      worker.createdAtMs,
      worker.hostId === null ? null : placedAtMs,
      worker.startedAtMs,
      readyAtMs,
      worker.gpuTypeId,
      worker.gpuCount,
      worker.dataCenterId,
      worker.hostId,
    )
  }

  leave(id: string, nowMs: number): void {
    this.sql.exec('DELETE FROM worker_lives WHERE left_at < ?', nowMs - REMEMBERED_MS)
    this.sql.exec('UPDATE worker_lives SET left_at = ? WHERE id = ?', nowMs, id)
  }

  /** Host on which a worker runs or ran; null when it has none or the host is not known any more. */
  hostOf(id: string): string | null {
    const row = this.sql.exec('SELECT host_id FROM worker_lives WHERE id = ?', id).toArray()[0]
    return typeof row?.host_id === 'string' ? row.host_id : null
  }

  /** Lifetimes of the given workers; unknown ones are left out. */
  of(ids: Iterable<string>): Map<string, WorkerLife> {
    const known = [...new Set(ids)].flatMap((id) => this.sql.exec('SELECT * FROM worker_lives WHERE id = ?', id).toArray().map(toLife))
    return new Map(known.map((life) => [life.id, life]))
  }

  /** The newest `limit` workers: present ones first, then those that left last. */
  newest(limit: number): WorkerLife[] {
    const select = (rows: string) => this.sql.exec(`SELECT * FROM worker_lives ${rows} LIMIT ?`, limit).toArray().map(toLife)
    const here = select('WHERE left_at IS NULL ORDER BY created_at DESC /* plan: sorts the workers that are here */')
    return [...here, ...select('WHERE left_at IS NOT NULL ORDER BY left_at DESC')].slice(0, limit)
  }
}

function toLife(row: Record<string, SqlStorageValue>): WorkerLife {
  const time = (value: SqlStorageValue | undefined) => (typeof value === 'number' ? value : null)
  const text = (value: SqlStorageValue | undefined) => (typeof value === 'string' ? value : null)
  return {
    id: String(row.id),
    createdAtMs: Number(row.created_at),
    placedAtMs: time(row.placed_at),
    startedAtMs: time(row.started_at),
    readyAtMs: time(row.ready_at),
    leftAtMs: time(row.left_at),
    gpuTypeId: text(row.gpu_type_id),
    gpuCount: Number(row.gpu_count),
    dataCenterId: text(row.data_center_id),
  }
}
