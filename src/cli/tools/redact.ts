import { keyPattern } from '../../contract/key-kinds.ts'

const HIDDEN = '[redacted]'

/** Patterns of keys and tokens, of this plane and of others, and of secrets in addresses. */
const PATTERNS: readonly [RegExp, string][] = [
  [keyPattern(4), HIDDEN],
  [/\b(rpa|sk|hf|ghp|github_pat|glpat|AKIA)[_-]?[A-Za-z0-9_-]{12,}/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, HIDDEN],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${HIDDEN}@`],
  [/([?&](?:[\w-]*(?:key|token|secret|signature|sig|password)[\w-]*)=)[^&\s"']+/gi, `$1${HIDDEN}`],
  [/(\b[\w-]*(?:key|token|secret|password|passwd|credential)[\w-]*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*')/gi, `$1"${HIDDEN}"`],
  [/(\b[\w-]*(?:key|token|secret|password|passwd|credential)[\w-]*\s*[=:]\s*)[^\s,"'{}[\]]+/gi, `$1${HIDDEN}`],
]

/** Text without credentials: removes these values and all text that looks like a key (CMD-36). */
export function redact(text: string, secrets: readonly string[]): string {
  // Longest first, since one secret may be part of another.
  const known = secrets.filter((secret) => secret.length >= 4).toSorted((a, b) => b.length - a.length)
  const without = known.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
  return PATTERNS.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), without)
}
