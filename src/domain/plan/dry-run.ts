/** Values that turn a dry run off. */
const NO = ['false', '0']

/**
 * Whether a request asks for a dry run. Every value other than an explicit no, in any letter case, counts as a yes, because a client that
 * sends the parameter at all must not change anything by a misspelling.
 */
export function isDryRunAsked(said: readonly string[] = []): boolean {
  return said.some((word) => !NO.includes(word.toLowerCase()))
}
