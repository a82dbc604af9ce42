/** Whether SQLite refused a batch with this text, which D1 and drizzle wrap. */
export function isRefusedWith(error: unknown, text: string): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes(text)) return true
  }
  return false
}

/** Whether a batch failed because a host lacks capacity, which violates its CHECK. */
export function isCheckFailure(error: unknown): boolean {
  return isRefusedWith(error, 'CHECK constraint failed')
}

/** Whether a batch failed because a column would have become NULL. `column` is `<table>.<column>`. */
export function isNullFailure(error: unknown, column: string): boolean {
  return isRefusedWith(error, `NOT NULL constraint failed: ${column}`)
}
