import { briefOf, programOf } from '../../src/domain/host/brief.ts'
import { Workload, type WorkloadReport, type WorkloadState } from '../../src/host-protocol/messages.ts'
import type { Place, Vault } from '../../src/platform/seal.ts'
import { ALARMS_SCHEMA } from '../alarms.ts'
import { HISTORY_SCHEMA } from './history/history-store.ts'

/** A workload of a host: its desired state, its owner and the last report about it. */
export interface HostWorkload {
  workload: Workload
  ownerId: string
  state: WorkloadState | null
  sequence: number
  /** Credential for its image, sealed by `PullLogins`. */
  sealedLogin: string | null
}

export const HOST_SCHEMA: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE workloads (
     id TEXT PRIMARY KEY,
     owner_id TEXT NOT NULL,
     spec TEXT NOT NULL,
     state TEXT,
     sequence INTEGER NOT NULL DEFAULT 0
   );`,
  `CREATE INDEX workloads_owner ON workloads (owner_id);
   CREATE TABLE pod_marks (pod_id TEXT PRIMARY KEY, marks INTEGER NOT NULL, marked_at INTEGER NOT NULL) WITHOUT ROWID;
   ${ALARMS_SCHEMA}`,
  // Ids of assertions that were exchanged for an access token (HOST-38).
  'CREATE TABLE assertions (jti TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;',
  'ALTER TABLE workloads ADD COLUMN sealed_login TEXT;',
  // The fields that only running a workload needs (HOST-68); null in rows whose `spec` still holds all fields.
  'ALTER TABLE workloads ADD COLUMN program TEXT;',
  HISTORY_SCHEMA,
]

const IS_TO_RUN = "spec ->> 'desired' = 'running'"

/** Desired state of one host and its revision. */
export class WorkloadStore {
  private readonly sql: SqlStorage
  private readonly vault: Vault
  private readonly objectId: string

  /** `objectId`: the object whose storage this is; values sealed for it cannot be opened elsewhere. */
  constructor(sql: SqlStorage, vault: Vault, objectId: string) {
    this.sql = sql
    this.vault = vault
    this.objectId = objectId
  }

  hostId(): string | null {
    return this.readMeta('hostId')
  }

  setHostId(id: string): void {
    if (this.hostId() !== id) this.writeMeta('hostId', id)
  }

  /** Reason why the host's enrolment was withdrawn; null when it is valid. */
  revoked(): string | null {
    return this.readMeta('revoked')
  }

  setRevoked(reason: string): void {
    this.writeMeta('revoked', reason)
  }

  revision(): number {
    return Number(this.readMeta('revision') ?? 0)
  }

  /** Raises the revision after a change of the desired state. */
  raise(): void {
    this.writeMeta('revision', String(this.revision() + 1))
  }

  ids(): string[] {
    const rows = this.sql.exec<{ id: string }>('SELECT id FROM workloads ORDER BY id').toArray()
    return rows.map(({ id }) => id)
  }

  /** All workloads as the host receives them: those that do not run in brief, without reading more. */
  wanted(): HostWorkload[] {
    return this.wantedPart('', Number.POSITIVE_INFINITY).rows
  }

  /** Workloads after the id `after` up to about `maxBytes`, and whether there are more. No row beyond that is read. */
  wantedPart(after: string, maxBytes: number): { rows: HostWorkload[]; more: boolean } {
    const found = this.sql.exec(
      `SELECT id, owner_id, spec, state, sequence, sealed_login, CASE WHEN ${IS_TO_RUN} THEN program END AS program FROM workloads
       WHERE id > ? ORDER BY id`,
      after,
    )
    const rows: HostWorkload[] = []
    let bytes = 0
    for (const row of found) {
      if (bytes >= maxBytes) return { rows, more: true }
      bytes += String(row.spec).length + String(row.program ?? '').length
      const known = this.toHostWorkload(row)
      rows.push(known.workload.desired === 'running' ? known : { ...known, workload: briefOf(known.workload), sealedLogin: null })
    }
    return { rows, more: false }
  }

  /** Approximate size of the desired state, in bytes. */
  wantedBytes(): number {
    const size = `octet_length(spec) + CASE WHEN ${IS_TO_RUN} THEN COALESCE(octet_length(program), 0) ELSE 0 END`
    return Number(this.sql.exec(`SELECT COALESCE(SUM(${size}), 0) AS bytes FROM workloads`).one().bytes)
  }

  /** Approximate size of one account's workloads here, in bytes. */
  bytesOfAccount(teamId: string): number {
    const size = `octet_length(spec) + CASE WHEN ${IS_TO_RUN} THEN COALESCE(octet_length(program), 0) ELSE 0 END`
    const sql = `SELECT COALESCE(SUM(${size}), 0) AS bytes FROM workloads WHERE spec ->> 'account' = ?`
    return Number(this.sql.exec(sql, teamId).one().bytes)
  }

  get(id: string): HostWorkload | null {
    const row = this.sql.exec('SELECT * FROM workloads WHERE id = ?', id).toArray()[0]
    return row ? this.toHostWorkload(row) : null
  }

  /** All workloads of one owner here. */
  ownedBy(ownerId: string): HostWorkload[] {
    return this.sql
      .exec('SELECT * FROM workloads WHERE owner_id = ? ORDER BY id', ownerId)
      .toArray()
      .map((row) => this.toHostWorkload(row))
  }

  /** Adds or replaces a workload under a new revision. An existing credential stays with its workload. */
  setWorkload(workload: Workload, ownerId: string, sealedLogin: string | null = null): void {
    this.sql.exec(
      `INSERT INTO workloads (id, owner_id, spec, program, sealed_login) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET spec = excluded.spec, program = excluded.program,
         sealed_login = COALESCE(excluded.sealed_login, sealed_login)`,
      workload.id,
      ownerId,
      JSON.stringify(briefOf(workload)),
      this.sealProgram(workload),
      sealedLogin,
    )
    this.raise()
  }

  /**
   * Reseals values that are stored under a previous secret or in plain text (SEAL-3); returns the ids of workloads that cannot be opened,
   * which are left unchanged.
   */
  reseal(sealLogin: (row: HostWorkload) => string | null): string[] {
    return this.ids().filter((id) => !this.resealOne(id, sealLogin))
  }

  private resealOne(id: string, sealLogin: (row: HostWorkload) => string | null): boolean {
    try {
      const row = this.get(id)
      if (!row) return true
      const brief = JSON.stringify(briefOf(row.workload))
      const program = this.sealProgram(row.workload)
      this.sql.exec('UPDATE workloads SET spec = ?, program = ?, sealed_login = ? WHERE id = ?', brief, program, sealLogin(row), id)
      return true
    } catch {
      return false
    }
  }

  record(report: WorkloadReport): void {
    this.sql.exec(
      'UPDATE workloads SET state = ?, sequence = ? WHERE id = ? AND sequence < ?',
      report.state,
      report.sequence,
      report.workloadId,
      report.sequence,
    )
  }

  remove(id: string): void {
    this.sql.exec('DELETE FROM workloads WHERE id = ?', id)
    this.raise()
  }

  readMeta(key: string): string | null {
    const row = this.sql.exec('SELECT value FROM meta WHERE key = ?', key).toArray()[0]
    return row ? String(row.value) : null
  }

  writeMeta(key: string, value: string): void {
    this.sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, value)
  }

  clearMeta(key: string): void {
    this.sql.exec('DELETE FROM meta WHERE key = ?', key)
  }

  private toHostWorkload(row: Record<string, SqlStorageValue>): HostWorkload {
    const id = String(row.id)
    const program = typeof row.program === 'string' ? this.openProgram(id, row.program) : '{}'
    return {
      workload: Workload.parse({ ...JSON.parse(String(row.spec)), ...JSON.parse(program) }),
      ownerId: String(row.owner_id),
      state: typeof row.state === 'string' ? (row.state as WorkloadState) : null,
      sequence: Number(row.sequence),
      sealedLogin: typeof row.sealed_login === 'string' ? row.sealed_login : null,
    }
  }

  // Rows of a release without sealing are JSON. A workload that cannot be opened is an error, so nothing is sent and the host continues
  // with its last state.
  private openProgram(id: string, kept: string): string {
    if (kept.startsWith('{')) return kept
    const text = this.vault.open(this.placeOf(id), kept)
    if (text === null)
      throw new Error(`workload ${id} was sealed under a TOKEN_SECRET that this plane does not have: add it to TOKEN_SECRET_PREVIOUS`)
    return text
  }

  private sealProgram(workload: Workload): string {
    return this.vault.seal(this.placeOf(workload.id), JSON.stringify(programOf(workload)))
  }

  private placeOf(id: string): Place {
    return ['workloads', this.objectId, id]
  }
}
