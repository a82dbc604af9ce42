import { Problem } from '../contract/problems.ts'
import { matchesTag } from '../domain/text/etag.ts'
import type { Env } from '../env.ts'
import { vaultOf } from '../platform/seal.ts'
import type { VerbContext } from './context.ts'

/**
 * Names the state of a resource that is about to be changed. Throws 412 unless it is as `If-Match` says (RST-21). `tag` is that of the row on which the change is decided; the statement that writes
 * has to hold the row to it, so that nothing comes in between.
 */
export function requireMatch({ precondition }: VerbContext, tag: string): void {
  precondition?.tell(tag)
  if (!matchesTag(precondition?.ifMatch, tag)) throw new Problem('preconditionFailed')
}

/** Names the state of the resource that is answered. */
export function tellTag({ precondition }: VerbContext, tag: string): void {
  precondition?.tell(tag)
}

/** The tag of a resource without a version: of all that may change of it. It tells nothing of what that is. */
export function contentTag(env: Env, kind: string, id: string, ...contents: readonly unknown[]): string {
  return `"${vaultOf(env).digest(['etag', kind, id], JSON.stringify(contents))}"`
}
