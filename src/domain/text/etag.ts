/** Entity tags of resources (RFC 9110). */

/** Strong tag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** Whether a resource of this version satisfies an `If-Match` header. An absent header is always satisfied; weak tags never match. */
export function matchesVersion(ifMatch: string | undefined, version: number): boolean {
  return matchesTag(ifMatch, etagOf(version))
}

/** Whether a resource with any strong tag satisfies an `If-Match` header, by the same rules. */
export function matchesTag(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((named) => named.trim() === tag)
}

/** Whether an `If-None-Match` header names this tag, weak or strong. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag)
}
