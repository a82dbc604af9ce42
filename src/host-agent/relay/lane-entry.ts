import { parseJson } from '../../node/json-file.ts'
import type { PostOutcome } from './offer-post.ts'
import type { Post } from './post-spool.ts'

/** Longer bodies are not parsed: they contain no progress update. */
const UPDATE_MAX_BYTES = 64 * 1024

/**
 * Determines how a post affects other posts of its lane. Of `update`s (progress, and a worker's state) only the newest matters. After a
 * `result` the worker considers the job done.
 */
export type PostKind = 'chunk' | 'result' | 'update'

/** A post on its way from a worker to the plane. */
export interface LaneEntry {
  readonly number: number
  readonly verb: string
  /** The workload that sent it. */
  readonly caller: string
  /** For log lines: without the query, which may contain more than an operator should see. */
  readonly path: string
  /** Undefined when the post is on disk only. */
  post: Post | undefined
  /** Determined when the post is written to disk; a post that is delivered directly need not be parsed. */
  kind: PostKind | undefined
  /** Time in ms at which it was stored on disk; undefined: it was not. */
  keptAtMs: number | undefined
  /** The write to disk in progress. */
  keeping: Promise<void> | undefined
  inFlight: boolean
  /** Whether it has left its lane. */
  gone: boolean
  timer: NodeJS.Timeout | undefined
  /** Answers the worker; only the first call counts. */
  answer(outcome: PostOutcome): void
  /** Releases the memory of its body. */
  release(): void
}

/** Returns the kind of a post by its route, and for a small `job-done` by its body. */
export function kindOf(verb: string, body: Buffer): PostKind {
  if (verb === 'ping') return 'update'
  if (verb === 'job-stream') return 'chunk'
  return isProgress(body) ? 'update' : 'result'
}

function isProgress(body: Buffer): boolean {
  if (body.length > UPDATE_MAX_BYTES) return false
  const value = parseJson(body.toString('utf8'))
  return typeof value === 'object' && value !== null && 'status' in value && value.status === 'IN_PROGRESS'
}
