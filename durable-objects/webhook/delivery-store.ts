import type { DeliveryState, DeliveryStatus } from '../../src/domain/webhook/delivery.ts'
import type { Lane, Openings } from '../../src/domain/webhook/slots.ts'
import type { DeliveryFilter, LoggedDelivery } from '../../src/rpc/webhook-sender.ts'
import { AUDIT_OUTBOX_SCHEMA } from '../audit-outbox.ts'
import { PieceStore } from '../piece-store.ts'

/** A row of the delivery log. `n` is its rowid and the key of its body. */
export interface Delivery extends LoggedDelivery {
  n: number
  /** Account of a delivery that belongs to no job. */
  teamId?: string | undefined
  /** Length of the body in bytes. */
  bytes: number
  /** Scheme, host and port of the receiver, by which concurrency is limited. */
  origin: string
  /** The URL without its query: one target of a receiver may hang while others answer. */
  target: string
  traceparent: string
}

/** Schema of a sender object, as migration steps that are applied once and in order; a released step never changes. */
export const SENDER_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE deliveries (
     n INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     endpoint_id TEXT NOT NULL,
     job_id TEXT NOT NULL,
     url TEXT NOT NULL,
     origin TEXT NOT NULL,
     traceparent TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     status TEXT NOT NULL,
     attempts TEXT NOT NULL,
     failures INTEGER NOT NULL,
     interruptions INTEGER NOT NULL,
     next_at INTEGER,
     started_at INTEGER
   );
   CREATE INDEX deliveries_waiting ON deliveries (next_at) WHERE status = 'PENDING' AND started_at IS NULL;
   CREATE INDEX deliveries_over ON deliveries (created_at) WHERE status <> 'PENDING';
   CREATE INDEX deliveries_log ON deliveries (created_at, id);
   CREATE TABLE pieces (body INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (body, part)) WITHOUT ROWID;`,
  `ALTER TABLE deliveries ADD COLUMN target TEXT GENERATED ALWAYS AS (substr(url, 1, instr(url || '?', '?') - 1)) VIRTUAL;
   CREATE INDEX deliveries_due ON deliveries ((failures > 0), next_at, origin, target, bytes) WHERE status = 'PENDING' AND started_at IS NULL;`,
  AUDIT_OUTBOX_SCHEMA,
  'ALTER TABLE deliveries ADD COLUMN team_id TEXT;',
]

const WAITING = "status = 'PENDING' AND started_at IS NULL"
/** Ended deliveries stay readable and repeatable for this long after their creation, up to this number and total size. */
export const RETENTION_MS = 72 * 3600 * 1000
const MAX_KEPT = 1_000
const MAX_KEPT_BYTES = 512 * 2 ** 20
/** Limits of deliveries that wait for receivers. One beyond them is not attempted, and its log entry states the reason. */
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 2 ** 30

/** Value of the job columns for a delivery without a job. */
const NO_JOB = ''

type Row = Record<string, SqlStorageValue>

/** Rows of the `deliveries` table and their bodies. */
export class DeliveryStore {
  readonly pieces: PieceStore
  private readonly sql: SqlStorage
  private lastN = 0
  private waiting = { count: 0, bytes: 0 }
  private kept = { count: 0, bytes: 0 }

  constructor(sql: SqlStorage) {
    this.sql = sql
    this.pieces = new PieceStore(sql, 'pieces')
    // Pieces of a hand-over that never finished.
    sql.exec('DELETE FROM pieces WHERE body NOT IN (SELECT n FROM deliveries)')
    this.lastN = Number(sql.exec('SELECT MAX(n) AS n FROM deliveries').one().n ?? 0)
    this.reload()
  }

  /** Reads the counts from the rows: at start and after a rollback. */
  reload(): void {
    this.waiting = this.sum("status = 'PENDING'")
    this.kept = this.sum("status <> 'PENDING'")
  }

  /** The rowid of the next delivery and the key of its body. */
  nextN(): number {
    return ++this.lastN
  }

  /** Whether another delivery may wait for its receiver. */
  hasRoom(): boolean {
    return this.waiting.count < MAX_WAITING && this.waiting.bytes < MAX_WAITING_BYTES
  }

  insert(delivery: Omit<Delivery, 'target'>): void {
    const { n, id, endpointId, jobId, teamId, url, origin, traceparent, bytes, createdAtMs } = delivery
    this.sql.exec(
      `INSERT INTO deliveries (n, id, endpoint_id, job_id, team_id, url, origin, traceparent, bytes, created_at, status, attempts, failures, interruptions)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', '[]', 0, 0)`,
      ...[n, id, endpointId ?? NO_JOB, jobId ?? NO_JOB, teamId ?? null, url, origin, traceparent, bytes, createdAtMs],
    )
    this.count('PENDING', bytes, 1)
    this.save(delivery, delivery.state, 'PENDING')
  }

  /** Writes a delivery's new state. `before` is its previous status. */
  save(delivery: Pick<Delivery, 'n' | 'bytes' | 'state'>, state: DeliveryState, before: DeliveryStatus = delivery.state.status): void {
    this.sql.exec(
      'UPDATE deliveries SET status = ?, attempts = ?, failures = ?, interruptions = ?, next_at = ?, started_at = ? WHERE n = ?',
      ...[state.status, JSON.stringify(state.attempts), state.failures, state.interruptions, state.nextAtMs, state.startedAtMs, delivery.n],
    )
    this.count(before, delivery.bytes, -1)
    this.count(state.status, delivery.bytes, 1)
  }

  /** Moves the times of waiting deliveries after a clock step, so that none waits longer (CLK-5). */
  move(byMs: number): void {
    this.sql.exec(`UPDATE deliveries SET next_at = next_at + ? WHERE ${WAITING}`, byMs)
  }

  byN(n: number): Delivery | null {
    return this.select('WHERE n = ?', n)[0] ?? null
  }

  byId(id: string): Delivery | null {
    return this.select('WHERE id = ?', id)[0] ?? null
  }

  /** The startable delivery that has been due for longest. */
  due(nowMs: number, lane: Lane, { closedReceivers, closedTargets, maxBytes }: Openings): Delivery | null {
    const rows = this.select(
      `WHERE ${WAITING} AND (failures > 0) = ? AND next_at <= ? AND bytes <= ?
         AND origin NOT IN (SELECT value FROM json_each(?)) AND target NOT IN (SELECT value FROM json_each(?))
       ORDER BY next_at LIMIT 1`,
      ...[lane === 'retry' ? 1 : 0, nowMs, maxBytes, JSON.stringify(closedReceivers), JSON.stringify(closedTargets)],
    )
    return rows[0] ?? null
  }

  /** Deliveries with a running attempt. */
  started(): Delivery[] {
    return this.select("WHERE status = 'PENDING' AND started_at IS NOT NULL")
  }

  /** Time of the next attempt that is due later than `afterMs`. */
  nextAtMs(afterMs = 0): number | null {
    const value = this.sql.exec(`SELECT MIN(next_at) AS value FROM deliveries WHERE ${WAITING} AND next_at > ?`, afterMs).one().value
    return value === null ? null : Number(value)
  }

  /** Time at which the oldest ended delivery is deleted. */
  forgetAtMs(): number | null {
    const value = this.sql.exec("SELECT MIN(created_at) AS value FROM deliveries WHERE status <> 'PENDING'").one().value
    return value === null ? null : Number(value) + RETENTION_MS
  }

  /** Deliveries of the filter, newest first. */
  log({ endpointId, jobId, after, limit }: DeliveryFilter): Delivery[] {
    return this.select(
      `WHERE (?1 IS NULL OR endpoint_id = ?1) AND (?2 IS NULL OR job_id = ?2) AND (?3 IS NULL OR (created_at, id) < (?3, ?4))
       ORDER BY created_at DESC, id DESC LIMIT ?5`,
      ...[endpointId ?? null, jobId ?? null, after?.createdAt ?? null, after?.id ?? null, limit],
    )
  }

  /** Deletes ended deliveries beyond the retention time, number or size. */
  prune(nowMs: number): void {
    for (;;) {
      const oldest = this.select("WHERE status <> 'PENDING' ORDER BY created_at LIMIT 1")[0]
      const tooMany = this.kept.count > MAX_KEPT || this.kept.bytes > MAX_KEPT_BYTES
      if (!oldest || (!tooMany && nowMs < oldest.createdAtMs + RETENTION_MS)) return
      this.remove(oldest)
    }
  }

  private remove(delivery: Delivery): void {
    this.sql.exec('DELETE FROM deliveries WHERE n = ?', delivery.n)
    this.pieces.remove(delivery.n)
    this.count(delivery.state.status, delivery.bytes, -1)
  }

  private count(status: DeliveryStatus, bytes: number, by: 1 | -1): void {
    const total = status === 'PENDING' ? this.waiting : this.kept
    total.count += by
    total.bytes += by * bytes
  }

  private sum(where: string): { count: number; bytes: number } {
    const row = this.sql.exec(`SELECT COUNT(*) AS n, COALESCE(SUM(bytes), 0) AS bytes FROM deliveries WHERE ${where}`).one()
    return { count: Number(row.n), bytes: Number(row.bytes) }
  }

  private select(where: string, ...values: SqlStorageValue[]): Delivery[] {
    return this.sql
      .exec(`SELECT * FROM deliveries ${where}`, ...values)
      .toArray()
      .map(toDelivery)
  }
}

function subjectOf(row: Row): Pick<Delivery, 'endpointId' | 'jobId' | 'teamId'> {
  if (row.team_id !== null) return { endpointId: null, jobId: null, teamId: String(row.team_id) }
  return { endpointId: String(row.endpoint_id), jobId: String(row.job_id) }
}

function toDelivery(row: Row): Delivery {
  return {
    n: Number(row.n),
    id: String(row.id),
    ...subjectOf(row),
    url: String(row.url),
    origin: String(row.origin),
    target: String(row.target),
    traceparent: String(row.traceparent),
    bytes: Number(row.bytes),
    createdAtMs: Number(row.created_at),
    state: {
      status: String(row.status) as DeliveryStatus,
      attempts: JSON.parse(String(row.attempts)),
      failures: Number(row.failures),
      interruptions: Number(row.interruptions),
      nextAtMs: numberOrNull(row.next_at),
      startedAtMs: numberOrNull(row.started_at),
    },
  }
}

function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === 'number' ? value : null
}
