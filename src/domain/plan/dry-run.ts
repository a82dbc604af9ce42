/** Ways to say that nothing is to be planned. */
const NO = ['false', '0']

/**
 * Whether somebody asks for a plan, however he spells it and however often he says it: what is not clearly a no is taken for one, because it was
 * written to be safe.
 */
export function isDryRunAsked(said: readonly string[] = []): boolean {
  return said.some((word) => !NO.includes(word.toLowerCase()))
}
