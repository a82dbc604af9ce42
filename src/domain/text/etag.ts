/** Entity tags of resources (RFC 9110). */

/** The strong tag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** Whether a resource of that version satisfies an `If-Match` header; absent, it always does. Weak tags never match. */
export function matchesVersion(ifMatch: string | undefined, version: number): boolean {
  return matchesTag(ifMatch, etagOf(version))
}

/** The same of any strong tag. */
export function matchesTag(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((named) => named.trim() === tag)
}

/** Whether an `If-None-Match` header names this tag, weak or strong. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag)
}
