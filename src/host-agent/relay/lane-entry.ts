import type { PostOutcome } from './offer-post.ts'
import type { Post } from './post-spool.ts'

/** Longer bodies are not looked into: what they hold is no short update. */
const UPDATE_MAX_BYTES = 64 * 1024

/**
 * What a post is to those behind it. Of `update`s only the newest one matters: progress, and what a worker says about itself. After a `result`
 * the worker believes itself to be done with the job.
 */
export type PostKind = 'chunk' | 'result' | 'update'

/** A post on its way from a worker to the plane. */
export interface LaneEntry {
  readonly number: number
  readonly verb: string
  /** The workload that it is of. */
  readonly caller: string
  /** For log lines; the query may hold more than an operator should see. */
  readonly path: string
  /** In memory; undefined when it is on disk only. */
  post: Post | undefined
  /** Known from the moment the post is kept; the way of an ordinary post needs no look into it. */
  kind: PostKind | undefined
  /** Since when it is on disk, if it is. */
  keptAtMs: number | undefined
  /** Writing it to disk is under way. */
  keeping: Promise<void> | undefined
  inFlight: boolean
  /** It has left its lane. */
  gone: boolean
  timer: NodeJS.Timeout | undefined
  /** Tells the worker; the first word counts. */
  settle(outcome: PostOutcome): void
  /** Gives the memory of its body back. */
  release(): void
}

/** The kind of a post by its route and, of a small `job-done`, by its body. */
export function kindOf(verb: string, body: Buffer): PostKind {
  if (verb === 'ping') return 'update'
  if (verb === 'job-stream') return 'chunk'
  return isProgress(body) ? 'update' : 'result'
}

function isProgress(body: Buffer): boolean {
  if (body.length > UPDATE_MAX_BYTES) return false
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null && 'status' in value && value.status === 'IN_PROGRESS'
  } catch {
    return false
  }
}
