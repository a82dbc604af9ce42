import { keyPattern } from '../../contract/key-kinds.ts'

const HIDDEN = '[redacted]'

/** What keys and tokens of a plane look like, whoever has them, and secrets that an address carries. */
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

/** A text without what would let its reader in: these values wherever they stand, and whatever looks like a key (CL-36). */
export function redact(text: string, secrets: readonly string[]): string {
  // The longest first: one may be part of another.
  const known = secrets.filter((secret) => secret.length >= 4).toSorted((a, b) => b.length - a.length)
  const without = known.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
  return PATTERNS.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), without)
}
