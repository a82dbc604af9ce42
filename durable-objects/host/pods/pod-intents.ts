/**
 * Pods whose row is about to change, or has changed, and that this host has not synced yet. An intent record is
 * stored before the row is written and removed after the sync: after a crash in between it remains, and the host syncs the pod by itself.
 */
export class PodIntents {
  private readonly sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  add(podId: string, nowMs: number): void {
    this.sql.exec(
      `INSERT INTO pod_marks (pod_id, marks, marked_at) VALUES (?, 1, ?)
       ON CONFLICT (pod_id) DO UPDATE SET marks = marks + 1, marked_at = excluded.marked_at`,
      podId,
      nowMs,
    )
  }

  /** Removes the record of one writer. Other writers may have records of their own. */
  remove(podId: string): void {
    this.sql.exec('UPDATE pod_marks SET marks = marks - 1 WHERE pod_id = ?', podId)
    this.sql.exec('DELETE FROM pod_marks WHERE pod_id = ? AND marks <= 0', podId)
  }

  /** Removes the records of a pod whose writers must have ended. */
  removeOlderThan(podId: string, recordedBeforeMs: number): void {
    this.sql.exec('DELETE FROM pod_marks WHERE pod_id = ? AND marked_at < ?', podId, recordedBeforeMs)
  }

  all(): string[] {
    return this.sql
      .exec('SELECT pod_id FROM pod_marks')
      .toArray()
      .map((row) => String(row.pod_id))
  }
}
