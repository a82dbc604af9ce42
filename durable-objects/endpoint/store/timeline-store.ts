import {
  COUNTS,
  type EndpointCounts,
  type EndpointSample,
  type Watch,
  type WorkerChange,
  watchCounts,
} from '../../../src/domain/worker/timeline.ts'
import type { Worker } from '../../../src/domain/worker/worker.ts'

const HOUR_MS = 3_600_000
const KEPT_MS = 30 * 24 * HOUR_MS
/** Samples per hour; beyond that the newest replaces the one before. */
const MAX_SAMPLES = 400
const MAX_CHANGES = 10_000
/** Number of the oldest changes that each new one may delete. */
const DROPPED = 20

/** Tables of the timeline: samples packed per hour, and phase changes of workers. */
export const TIMELINE_SCHEMA = `CREATE TABLE timeline_hours (hour INTEGER PRIMARY KEY, samples TEXT NOT NULL);
   CREATE TABLE worker_changes (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, change TEXT NOT NULL);
   ALTER TABLE worker_lives ADD COLUMN host_id TEXT;`

/** Counts of an endpoint over time (HIS-20). A job costs no row: its counts are in memory until a minute is over or a worker changes. */
export class TimelineStore {
  private readonly sql: SqlStorage
  private watch: Watch | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Called at the end of every commit. */
  note(counts: EndpointCounts, nowMs: number): void {
    const before = this.watch ?? { noted: this.last(), since: null }
    const { notes, watch } = watchCounts(before, counts, nowMs)
    this.watch = watch
    for (const sample of notes) this.write(sample)
  }

  /** Records a new worker or a change of a worker's phase. */
  workerChanged(before: Worker | null, worker: Worker, nowMs: number): void {
    if (before?.phase === worker.phase) return
    this.change(nowMs, { workerId: worker.id, phase: worker.phase, reason: worker.reason, release: worker.version })
  }

  workerLeft(worker: Worker, nowMs: number): void {
    this.change(nowMs, { workerId: worker.id, phase: 'GONE', reason: worker.reason, release: worker.version })
  }

  /** Samples within a period, oldest first, preceded by the last one before it. */
  samples(fromMs: number, toMs: number): EndpointSample[] {
    const before = 'SELECT MAX(hour) FROM timeline_hours WHERE hour < ?'
    const [first, last] = [Math.floor(fromMs / HOUR_MS), Math.floor(toMs / HOUR_MS)]
    // An earlier hour may hold the sample that was current at the start of the period.
    const rows = this.sql.exec(
      `SELECT hour, samples FROM timeline_hours WHERE hour >= COALESCE((${before}), ?) AND hour <= ? ORDER BY hour`,
      first,
      first,
      last,
    )
    const all = Array.from(rows, (row) => unpack(Number(row.hour), String(row.samples))).flat()
    const inside = all.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    const previous = all.findLast(({ atMs }) => atMs < fromMs)
    const since = this.watch?.since
    return [...(previous ? [previous] : []), ...inside, ...(since && since.atMs <= toMs ? [since] : [])]
  }

  /** Phase changes of workers within a period, newest first. */
  changes(fromMs: number, toMs: number, limit: number): WorkerChange[] {
    return this.sql
      .exec(
        'SELECT n, at, change FROM worker_changes WHERE at >= ? AND at <= ? ORDER BY n DESC LIMIT ? /* plan: at most MAX_CHANGES */',
        fromMs,
        toMs,
        limit,
      )
      .toArray()
      .map((row) => ({ ...(JSON.parse(String(row.change)) as Omit<WorkerChange, 'n' | 'atMs'>), n: Number(row.n), atMs: Number(row.at) }))
  }

  /** Drops the cache after a rollback. */
  reload(): void {
    this.watch = null
  }

  private last(): EndpointSample | null {
    const row = this.sql
      .exec('SELECT hour, samples FROM timeline_hours ORDER BY hour DESC LIMIT 1 /* plan: stops at the first */')
      .toArray()[0]
    return row ? (unpack(Number(row.hour), String(row.samples)).at(-1) ?? null) : null
  }

  private write(sample: EndpointSample): void {
    const hour = Math.floor(sample.atMs / HOUR_MS)
    const row = this.sql.exec('SELECT samples FROM timeline_hours WHERE hour = ?', hour).toArray()[0]
    const known = row ? unpack(hour, String(row.samples)).slice(0, MAX_SAMPLES - 1) : []
    if (!row) this.sql.exec('DELETE FROM timeline_hours WHERE hour < ?', hour - KEPT_MS / HOUR_MS)
    this.sql.exec('INSERT OR REPLACE INTO timeline_hours (hour, samples) VALUES (?, ?)', hour, pack(hour, [...known, sample]))
  }

  private change(atMs: number, change: Omit<WorkerChange, 'n' | 'atMs'>): void {
    this.sql.exec('INSERT INTO worker_changes (at, change) VALUES (?, ?)', atMs, JSON.stringify(change))
    const oldest = `SELECT n FROM worker_changes ORDER BY n LIMIT ${DROPPED}`
    const newest = 'SELECT MAX(n) FROM worker_changes'
    this.sql.exec(
      `DELETE FROM worker_changes WHERE n IN (${oldest}) AND (at < ? OR n <= (${newest}) - ?) /* plan: stops at the limit */`,
      atMs - KEPT_MS,
      MAX_CHANGES,
    )
  }
}

const FIELDS = [...COUNTS, 'mostQueued', 'mostInProgress'] as const

function pack(hour: number, samples: readonly EndpointSample[]): string {
  return JSON.stringify(samples.map((sample) => [sample.atMs - hour * HOUR_MS, ...FIELDS.map((name) => sample[name])]))
}

function unpack(hour: number, text: string): EndpointSample[] {
  return (JSON.parse(text) as number[][]).map(([offset = 0, ...values]) => {
    const named = Object.fromEntries(FIELDS.map((name, index) => [name, values[index] ?? 0])) as Record<(typeof FIELDS)[number], number>
    return { atMs: hour * HOUR_MS + offset, ...named }
  })
}
