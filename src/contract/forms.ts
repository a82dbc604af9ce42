/** Descriptions of patterns for messages of refusals, by the pattern's source (PP-177). */
const WANTED = new Map<string, string>()

/** Registers the description of a pattern ("want <words>") and returns the pattern. */
export function form(pattern: RegExp, words: string): RegExp {
  WANTED.set(String(pattern), words)
  return pattern
}

/** Returns the description of a pattern, given as `/…/`; undefined if it has none. */
export function wordsFor(pattern: string): string | undefined {
  return WANTED.get(pattern)
}
