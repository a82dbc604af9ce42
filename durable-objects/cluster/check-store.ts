import type { Answers, Check } from '../../src/domain/cluster/life.ts'
import { OverlayReport } from '../../src/host-protocol/overlays.ts'

/** What the object of a cluster remembers beside its rows: the question that stands, and what hosts have answered. */
export class CheckStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  read(): Check | null {
    const text = this.readMeta('check')
    return text === null ? null : (JSON.parse(text) as Check)
  }

  /** Another number drops what was answered to former ones. */
  write(check: Check): void {
    this.writeMeta('check', JSON.stringify(check))
    this.sql.exec('DELETE FROM reports WHERE number < ?', check.number)
  }

  /** The newest question that hosts have been told of. */
  toldNumber(): number {
    return Number(this.readMeta('told') ?? 0)
  }

  writeTold(number: number): void {
    this.writeMeta('told', String(number))
  }

  answers(): Answers {
    const rows = this.sql.exec<{ host_id: string; report: string }>('SELECT host_id, report FROM reports').toArray()
    return rows.map(({ host_id, report }) => ({ hostId: host_id, report: OverlayReport.parse(JSON.parse(report)) }))
  }

  /** An answer to an older question than the host has answered already is old news. */
  answer(hostId: string, report: OverlayReport): void {
    this.sql.exec(
      `INSERT INTO reports (host_id, number, report) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET number = excluded.number, report = excluded.report WHERE excluded.number >= number`,
      hostId,
      report.check,
      JSON.stringify(report),
    )
  }

  /** Whose object this is, and when somebody last was about to write its rows. */
  expected(): { clusterId: string; atMs: number } | null {
    const clusterId = this.readMeta('clusterId')
    return clusterId === null ? null : { clusterId, atMs: Number(this.readMeta('expectedAt') ?? 0) }
  }

  expect(clusterId: string, nowMs: number): void {
    this.writeMeta('clusterId', clusterId)
    this.writeMeta('expectedAt', String(nowMs))
  }

  private readMeta(key: string): string | null {
    const row = this.sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', key).toArray()[0]
    return row?.value ?? null
  }

  private writeMeta(key: string, value: string): void {
    this.sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, value)
  }
}
