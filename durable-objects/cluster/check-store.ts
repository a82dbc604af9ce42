import type { Answers, Check } from '../../src/domain/cluster/life.ts'
import { OverlayReport } from '../../src/host-protocol/overlays.ts'

/** State that a cluster's object stores besides its D1 rows: the current check and the hosts' answers. */
export class CheckStore {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  read(): Check | null {
    const text = this.readMeta('check')
    return text === null ? null : (JSON.parse(text) as Check)
  }

  /** Storing a new check discards the answers to earlier ones. */
  write(check: Check): void {
    this.writeMeta('check', JSON.stringify(check))
    this.sql.exec('DELETE FROM reports WHERE number < ?', check.number)
  }

  /** The number of the newest check that was published to the hosts; 0 when none was. */
  announcedNumber(): number {
    return Number(this.readMeta('told') ?? 0)
  }

  writeAnnounced(number: number): void {
    this.writeMeta('told', String(number))
  }

  answers(): Answers {
    const rows = this.sql.exec<{ host_id: string; report: string }>('SELECT host_id, report FROM reports').toArray()
    return rows.map(({ host_id, report }) => ({ hostId: host_id, report: OverlayReport.parse(JSON.parse(report)) }))
  }

  /** Stores a host's report, unless a report with a higher check number is stored already. */
  answer(hostId: string, report: OverlayReport): void {
    this.sql.exec(
      `INSERT INTO reports (host_id, number, report) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET number = excluded.number, report = excluded.report WHERE excluded.number >= number`,
      hostId,
      report.check,
      JSON.stringify(report),
    )
  }

  /** The cluster of this object, and when a caller last announced a write of its rows. */
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
