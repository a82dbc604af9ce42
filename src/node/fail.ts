/** An error whose message is meant for the operator: printed as one line, without a stack, before the program exits with 1. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}

/**
 * Returns the most informative text of an unknown error; `fetch` hides the cause behind "fetch failed", and the cause is what an operator
 * needs.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause
  if (cause instanceof Error) return cause.message || codeOf(cause) || error.message
  return error.message || codeOf(error) || error.name
}

function codeOf(error: Error): string | undefined {
  return 'code' in error ? String(error.code) : undefined
}

/** Whether an error from `node:fs` or `node:net` has this code, such as "ENOENT". */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
