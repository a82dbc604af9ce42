/** HOST-38: an assertion is good for a minute, and one more at either end for a clock that is wrong; afterwards its age refuses it. */
const REMEMBERED_MS = 180_000
/** A host needs one an hour. One that asks for more than this in three minutes is refused rather than remembered. */
const MAX_REMEMBERED = 100

/** Marks an assertion of this host as used, if it is not and there are not too many. */
export function spendAssertion(sql: SqlStorage, jti: string, nowMs: number): 'good' | 'used' | 'too many' {
  sql.exec('DELETE FROM assertions WHERE until <= ?', nowMs)
  const { count } = sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM assertions').one()
  if (count >= MAX_REMEMBERED) return 'too many'
  const { rowsWritten } = sql.exec('INSERT OR IGNORE INTO assertions (jti, until) VALUES (?, ?)', jti, nowMs + REMEMBERED_MS)
  return rowsWritten > 0 ? 'good' : 'used'
}
