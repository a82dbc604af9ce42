import { AUDIT_OUTBOX_SCHEMA } from '../../audit-outbox.ts'
import { TIMELINE_SCHEMA } from './timeline-store.ts'

/**
 * Schema of an endpoint object, as migration steps that are applied once and in order; a released step never changes.
 * jobs: no index covers every state, so that insert and take cost the same at a thousand and at a million jobs (JOB-20).
 * jobs.input, jobs.output: short texts. pieces: long inputs (kind 0), long outputs (kind 1) and sealed s3Configs (kind 2) in pieces below
 * the 2 MB row limit.
 * outbox: notifications of ended jobs, until the team's webhook sender has them.
 */
export const ENDPOINT_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE jobs (
     seq INTEGER PRIMARY KEY,
     id TEXT NOT NULL,
     state INTEGER NOT NULL,
     low INTEGER NOT NULL,
     order_key INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     ttl_at INTEGER NOT NULL,
     execution_timeout_ms INTEGER NOT NULL,
     retention_ms INTEGER NOT NULL,
     due_at INTEGER NOT NULL,
     attempt INTEGER NOT NULL DEFAULT 0,
     retries INTEGER NOT NULL DEFAULT 0,
     worker_id TEXT,
     boot TEXT,
     past_holders TEXT,
     started_at INTEGER,
     acked INTEGER,
     lease_until INTEGER,
     lease_end_reason TEXT,
     missing_pings INTEGER,
     finished_at INTEGER,
     error TEXT,
     error_detail TEXT,
     drained INTEGER
   );
   CREATE INDEX jobs_queue ON jobs (low, order_key) WHERE state = 0;
   CREATE INDEX jobs_running ON jobs (worker_id) WHERE state = 1;
   CREATE INDEX jobs_due ON jobs (due_at);
   CREATE TABLE payloads (job INTEGER NOT NULL, kind INTEGER NOT NULL, part INTEGER NOT NULL, data NOT NULL, PRIMARY KEY (job, kind, part)) WITHOUT ROWID;
   CREATE TABLE chunks (n INTEGER PRIMARY KEY, job INTEGER NOT NULL, bytes INTEGER NOT NULL, data TEXT NOT NULL);
   CREATE INDEX chunks_job ON chunks (job, n);
   CREATE TABLE workers (
     id TEXT PRIMARY KEY,
     boot TEXT NOT NULL,
     version INTEGER NOT NULL,
     phase TEXT NOT NULL,
     host_id TEXT,
     gpu_type_id TEXT,
     data_center_id TEXT,
     created_at INTEGER NOT NULL,
     started_at INTEGER,
     last_seen_at INTEGER,
     idle_since INTEGER,
     reason TEXT,
     next_attempt_at INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     forget_at INTEGER,
     released INTEGER NOT NULL,
     last_take_at INTEGER
   );
   CREATE TABLE stops (
     worker_id TEXT NOT NULL,
     job_id TEXT NOT NULL,
     told INTEGER NOT NULL,
     kill_at INTEGER NOT NULL,
     PRIMARY KEY (worker_id, job_id)
   ) WITHOUT ROWID;`,
  `ALTER TABLE jobs ADD COLUMN s3 INTEGER;
   CREATE TABLE idempotency_keys (
     user_id TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     job_id TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (user_id, key)
   );
   CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);`,
  `ALTER TABLE jobs ADD COLUMN webhook TEXT;
   CREATE TABLE outbox (
     n INTEGER PRIMARY KEY AUTOINCREMENT,
     delivery_id TEXT NOT NULL,
     job_id TEXT NOT NULL,
     url TEXT NOT NULL,
     bytes INTEGER NOT NULL
   );
   CREATE TABLE outbox_pieces (body INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (body, part)) WITHOUT ROWID;`,
  // Chunks are numbered per job from 1, so that a reader can resume (STR-10).
  `ALTER TABLE jobs ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE chunks ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
   UPDATE chunks SET number = numbered.number
     FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY job ORDER BY n) AS number FROM chunks) AS numbered WHERE numbered.n = chunks.n;
   UPDATE jobs SET chunks = (SELECT COUNT(*) FROM chunks WHERE chunks.job = jobs.seq);
   DROP INDEX chunks_job;
   CREATE INDEX chunks_job ON chunks (job, number);`,
  'CREATE TABLE request_samples (minute INTEGER PRIMARY KEY, completed INTEGER NOT NULL, failed INTEGER NOT NULL, retried INTEGER NOT NULL);',
  // Decisions of the scaler that changed something. Workers store their own image and GPU count, because the configuration changes without
  // them.
  `ALTER TABLE workers ADD COLUMN image TEXT NOT NULL DEFAULT '';
   ALTER TABLE workers ADD COLUMN gpu_count INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE scaling_log (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, decision TEXT NOT NULL);`,
  // Until this time a silent worker is attributed to its silent host (HOST-36).
  'ALTER TABLE workers ADD COLUMN excused_until INTEGER;',
  // The newest post of the running attempt, to recognize a repeat of it (HOST-22).
  'ALTER TABLE jobs ADD COLUMN delivery TEXT;',
  // Unconfirmed leases cost no retry (LSE-30); a worker that took a job has proved that it can start (LSE-31).
  `ALTER TABLE jobs ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE workers ADD COLUMN worked INTEGER NOT NULL DEFAULT 0;`,
  // Workers that have left and whose logs may still be read (LOG-21).
  `CREATE TABLE former_workers (id TEXT PRIMARY KEY, left_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX former_workers_age ON former_workers (left_at);`,
  AUDIT_OUTBOX_SCHEMA,
  // Jobs of one state, newest first (JOB-41): the rowid is the last part of every index.
  'CREATE INDEX jobs_state ON jobs (state);',
  // Attempts that were followed by another one, and the times of worker phases (JOB-43).
  `CREATE TABLE attempts (
     job INTEGER NOT NULL, attempt INTEGER NOT NULL, worker_id TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
     outcome TEXT NOT NULL, reason TEXT, requeued_at INTEGER NOT NULL, PRIMARY KEY (job, attempt)
   ) WITHOUT ROWID;
   CREATE TABLE worker_lives (
     id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, placed_at INTEGER, started_at INTEGER, ready_at INTEGER, left_at INTEGER,
     gpu_type_id TEXT, gpu_count INTEGER NOT NULL, data_center_id TEXT
   ) WITHOUT ROWID;
   CREATE INDEX worker_lives_age ON worker_lives (left_at);`,
  // Counts of the endpoint over time, and the host of each worker (HIS-20).
  TIMELINE_SCHEMA,
  // Bulk changes, which cancel or requeue many jobs in steps (JOB-44).
  `CREATE TABLE bulks (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, finished_at INTEGER, bulk TEXT NOT NULL) WITHOUT ROWID;`,
  // DEV-10: with an index over every state, SQLite reads and sorts the whole queue for its head. Lists by state use the two indexes of live
  // states, this one of ended jobs, and one of queued jobs whose order key differs from their sequence number, which holds retried jobs
  // only.
  `DROP INDEX jobs_state;
   CREATE INDEX jobs_ended ON jobs (state) WHERE state > 1;
   CREATE INDEX jobs_retried ON jobs (state) WHERE state = 0 AND order_key <> seq;`,
  // Number of leases that a host, an agent or the plane lost (LSE-20).
  'ALTER TABLE jobs ADD COLUMN host_losses INTEGER NOT NULL DEFAULT 0;',
  // LSE-24: lease deadlines of running jobs are only in memory. The row of such a job is due at the end of its time to live.
  `ALTER TABLE workers ADD COLUMN loaded_at INTEGER;
   UPDATE jobs SET due_at = ttl_at WHERE state = 1;`,
  // JOB-23: a short text costs no row of its own. The view serves the release before this step, which finds each text in its old place, so
  // that a plane that is rolled back loses no input.
  `ALTER TABLE jobs ADD COLUMN input TEXT;
   ALTER TABLE jobs ADD COLUMN output TEXT;
   ALTER TABLE payloads RENAME TO pieces;
   CREATE VIEW payloads AS SELECT job, kind, part, data FROM pieces
     UNION ALL SELECT seq, 0, 0, input FROM jobs WHERE input IS NOT NULL
     UNION ALL SELECT seq, 1, 0, output FROM jobs WHERE output IS NOT NULL;
   CREATE TRIGGER payloads_insert INSTEAD OF INSERT ON payloads BEGIN
     INSERT INTO pieces (job, kind, part, data) VALUES (NEW.job, NEW.kind, NEW.part, NEW.data);
   END;
   CREATE TRIGGER payloads_delete INSTEAD OF DELETE ON payloads BEGIN
     DELETE FROM pieces WHERE job = OLD.job AND kind = OLD.kind AND part = OLD.part;
     UPDATE jobs SET input = NULL WHERE seq = OLD.job AND OLD.kind = 0;
     UPDATE jobs SET output = NULL WHERE seq = OLD.job AND OLD.kind = 1;
   END;`,
  // DEV-18: most jobs complete, and an entry costs a row, so completed jobs are in no index but that of deadlines. That one has the name which
  // lists of the release before this step ask for, so that they still work, slowly, in a plane that is rolled back.
  `DROP INDEX jobs_ended;
   DROP INDEX jobs_due;
   CREATE INDEX jobs_ended ON jobs (due_at);
   CREATE INDEX jobs_failed ON jobs (state) WHERE state > 2;`,
]
