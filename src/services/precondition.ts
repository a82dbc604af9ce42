import { Problem } from '../contract/problems.ts'
import { matchesTag } from '../domain/text/etag.ts'
import type { Env } from '../env.ts'
import { vaultOf } from '../platform/seal.ts'
import type { VerbContext } from './context.ts'

/**
 * Reports the tag of a resource that is about to be changed. Throws 412 unless `If-Match` allows it (REST-21). `tag` belongs to the row
 * that the decision is based on; the statement that writes must also check that the row has not changed.
 */
export function requireMatch({ precondition }: VerbContext, tag: string): void {
  precondition?.reportTag(tag)
  if (!matchesTag(precondition?.ifMatch, tag)) throw new Problem('preconditionFailed')
}

/** Reports the tag of the resource in the answer. */
export function reportTag({ precondition }: VerbContext, tag: string): void {
  precondition?.reportTag(tag)
}

/**
 * Returns the tag of a resource without a version, a keyed digest over everything that may change. It reveals nothing about the contents.
 */
export function contentTag(env: Env, kind: string, id: string, ...contents: readonly unknown[]): string {
  return `"${vaultOf(env).digest(['etag', kind, id], JSON.stringify(contents))}"`
}
