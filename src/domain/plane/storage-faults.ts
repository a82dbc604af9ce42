/** Storage that fails under an operation, told from other faults by the text that the runtime gives. Pure. */

const FULL = /\bSQLITE_FULL\b|database or disk is full/
const MAX_CAUSES = 5

/** Whether an operation failed because there was no room to write (PLC-3). The text passes from object to caller unchanged. */
export function isStorageFull(error: unknown): boolean {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    if (FULL.test(cause.message)) return true
    ;({ cause } = cause)
  }
  return false
}
