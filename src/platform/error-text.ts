/**
 * An error and its causes as text for a log or a check of the operator. A failed statement is shown without its parameters: they are
 * what a tenant sent, or sealed.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${errorText(error.cause)}`
  // The message of such an error repeats the parameters.
  if ('query' in error && 'params' in error) return `Failed query${cause}\nin ${String(error.query)}`
  return `${error.stack ?? error.message}${cause}`
}
