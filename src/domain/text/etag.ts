/** Entity tags of resources that carry a version (RFC 9110). */

/** The strong tag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** Whether a resource of that version satisfies an `If-Match` header; absent, it always does. Weak tags never match. */
export function matchesVersion(ifMatch: string | undefined, version: number): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => tag.trim() === etagOf(version))
}

/** Whether an `If-None-Match` header names this tag, weak or strong. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag)
}
