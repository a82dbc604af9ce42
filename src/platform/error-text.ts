/** Causes that are shown: enough for any real chain, and an end for one that leads back to itself. */
const MAX_CAUSES = 8
/** The message of a failed statement has its parameters last. It may be part of another text, or of an error that lost its other fields. */
const PARAMETERS = /(Failed query: [\s\S]*?)\nparams: [\s\S]*/

/**
 * An error and its causes as text for a log or a check of the operator. A failed statement is shown without its parameters: they are
 * what a tenant sent, or sealed.
 */
export function errorText(error: unknown, maxCauses: number = MAX_CAUSES): string {
  if (!(error instanceof Error)) return withoutParameters(String(error))
  const cause = error.cause === undefined || maxCauses === 0 ? '' : `\ncaused by ${errorText(error.cause, maxCauses - 1)}`
  // Its cause comes first, because a log cuts long texts.
  if ('query' in error && 'params' in error) return `Failed query${cause}\nin ${String(error.query)}`
  return `${withoutParameters(error.stack ?? error.message)}${cause}`
}

/** A text without the parameters of a failed statement, which end it. */
export function withoutParameters(text: string): string {
  return text.replace(PARAMETERS, '$1')
}
