/** Storage faults, recognized by the runtime's error text. Pure. */

const FULL = /\bSQLITE_FULL\b|database or disk is full/
const MAX_CAUSES = 5

/** Whether an operation failed because the storage is full (PLANE-12). The text passes from object to caller unchanged. */
export function isStorageFull(error: unknown): boolean {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    if (FULL.test(cause.message)) return true
    ;({ cause } = cause)
  }
  return false
}
