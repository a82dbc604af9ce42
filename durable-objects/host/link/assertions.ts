/**
 * HOST-38: an assertion is valid for a minute, plus one at either end for clock skew; afterwards its age makes it invalid. It may have waited
 * for its turn before (HOST-44).
 */
const REMEMBERED_MS = 200_000
/** A host needs one an hour. Above this number in three minutes further ones are refused instead of stored. */
const MAX_REMEMBERED = 100

/** Marks an assertion of this host as used, unless it is used already or there are too many. */
export function spendAssertion(sql: SqlStorage, jti: string, nowMs: number): 'good' | 'used' | 'too many' {
  sql.exec('DELETE FROM assertions WHERE until <= ?', nowMs)
  const { count } = sql.exec<{ count: number }>('SELECT COUNT(*) AS count FROM assertions').one()
  if (count >= MAX_REMEMBERED) return 'too many'
  const { rowsWritten } = sql.exec('INSERT OR IGNORE INTO assertions (jti, until) VALUES (?, ?)', jti, nowMs + REMEMBERED_MS)
  return rowsWritten > 0 ? 'good' : 'used'
}
