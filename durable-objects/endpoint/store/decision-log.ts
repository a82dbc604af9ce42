import type { ScalingDecision, ScalingInputs } from '../../../src/domain/worker/scaling.ts'
import { type DecisionRecord, isNewDecision, recordDecision } from '../../../src/domain/worker/scaling-record.ts'
import type { DecisionRows } from '../../../src/queue/state.ts'

/** Decisions that are kept; older ones are dropped. */
export const MAX_DECISIONS = 200

/** What the scaler decided. The rows hold each decision that changed something; the last one of all is kept in memory only. */
export class DecisionLog implements DecisionRows {
  private readonly sql: SqlStorage
  private latest: DecisionRecord | null = null

  constructor(sql: SqlStorage) {
    this.sql = sql
  }

  /** Inside the transaction of the decision. */
  note(decision: ScalingDecision, inputs: ScalingInputs): void {
    const record = recordDecision(decision, inputs)
    if (isNewDecision(record, this.latest ?? this.newest(1)[0] ?? null)) {
      this.sql.exec('INSERT INTO scaling_log (at, decision) VALUES (?, ?)', record.atMs, JSON.stringify(record))
      this.sql.exec('DELETE FROM scaling_log WHERE n <= (SELECT MAX(n) FROM scaling_log) - ?', MAX_DECISIONS)
    }
    this.latest = record
  }

  /** The last decision, or the last one that changed something when the object has decided nothing since it woke. */
  last(): DecisionRecord | null {
    return this.latest ?? this.newest(1)[0] ?? null
  }

  /** Newest first. */
  newest(limit: number): DecisionRecord[] {
    return this.sql
      .exec('SELECT decision FROM scaling_log ORDER BY n DESC LIMIT ? /* plan: stops at the limit */', limit)
      .toArray()
      .map((row) => JSON.parse(String(row.decision)) as DecisionRecord)
  }

  /** After a transaction that was rolled back: what was noted in it may not be so. */
  reload(): void {
    this.latest = null
  }
}
