/** Descriptions of patterns for messages of refusals, by the pattern's source (ERR-22). */
const WANTED = new Map<string, string>()

/** Registers the description of a pattern ("want <words>") and returns the pattern. */
export function form(pattern: RegExp, description: string): RegExp {
  WANTED.set(String(pattern), description)
  return pattern
}

/** Returns the description of a pattern, given as `/…/`; undefined if it has none. */
export function patternText(pattern: string): string | undefined {
  return WANTED.get(pattern)
}
