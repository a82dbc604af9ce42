import type { ScalingDecision, ScalingInputs } from '../../../src/domain/worker/scaling.ts'
import { type DecisionRecord, isNewDecision, recordDecision } from '../../../src/domain/worker/scaling-record.ts'
import type { DecisionRows } from '../../../src/queue/state.ts'

/** Number of decisions retained; older ones are deleted. */
export const MAX_DECISIONS = 200

/** Decisions of the scaler. The rows hold each decision that changed something; the latest of all is only in memory. */
export class DecisionLog implements DecisionRows {
  private readonly sql: SqlStorage
  private latest: DecisionRecord | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Records a decision. Must be called in its transaction. */
  note(decision: ScalingDecision, inputs: ScalingInputs): void {
    const record = recordDecision(decision, inputs)
    if (isNewDecision(record, this.latest ?? this.newest(1)[0] ?? null)) {
      this.sql.exec('INSERT INTO scaling_log (at, decision) VALUES (?, ?)', record.atMs, JSON.stringify(record))
      this.sql.exec('DELETE FROM scaling_log WHERE n <= (SELECT MAX(n) FROM scaling_log) - ?', MAX_DECISIONS)
    }
    this.latest = record
  }

  /** The latest decision, or the latest stored one when the object has not decided since it started. */
  last(): DecisionRecord | null {
    return this.latest ?? this.newest(1)[0] ?? null
  }

  /** Stored decisions, newest first. */
  newest(limit: number): DecisionRecord[] {
    return this.sql
      .exec('SELECT decision FROM scaling_log ORDER BY n DESC LIMIT ? /* plan: stops at the limit */', limit)
      .toArray()
      .map((row) => JSON.parse(String(row.decision)) as DecisionRecord)
  }

  /** Drops the latest decision from memory after a rollback, because it may be undone. */
  reload(): void {
    this.latest = null
  }
}
