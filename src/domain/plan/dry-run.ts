/** Ways to say that nothing is to be planned. */
const NO = ['false', '0']

/** Whether somebody asks for a plan, however he spells it: what is not clearly a no is taken for one, because it was written to be safe. */
export function isDryRunAsked(said: string | null | undefined): boolean {
  return said !== undefined && said !== null && !NO.includes(said.toLowerCase())
}
