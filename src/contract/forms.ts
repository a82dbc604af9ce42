/** What a text has to look like, in words that a refusal can say beside its pattern (PP-177). */
const WANTED = new Map<string, string>()

/** A pattern of the contract with the words for it: "want <words>". */
export function form(pattern: RegExp, words: string): RegExp {
  WANTED.set(String(pattern), words)
  return pattern
}

/** The words for a pattern, written as `/…/`; undefined for one without. */
export function wordsFor(pattern: string): string | undefined {
  return WANTED.get(pattern)
}
