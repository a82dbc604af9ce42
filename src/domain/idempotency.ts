/** `Idempotency-Key` on submits: a repeated request finds the job of the first instead of making another. Pure. */

/** How long a key is remembered. */
export const IDEMPOTENCY_KEEP_MS = 24 * 3600 * 1000
/**
 * The most that a kept answer of a create takes, bytes: a body without env has 100 KiB, its command is in the answer twice, and what is
 * sealed is a third longer.
 */
export const MAX_ANSWER_BYTES = 384 * 1024
const MAX_KEY_CHARS = 255
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** What is kept of the first request under a key. */
export interface KeyRecord {
  /** Digest of operation, query and body. */
  fingerprint: string
  jobId: string
  createdAtMs: number
}

/** Reads the header. Null: none was sent. A refusal says what is wrong with it. */
export function readIdempotencyKey(header: string | null): { ok: true; key: string | null } | { ok: false; detail: string } {
  if (header === null || (header.length <= MAX_KEY_CHARS && VISIBLE_ASCII.test(header))) return { ok: true, key: header }
  return { ok: false, detail: `Idempotency-Key (header): want 1 to ${MAX_KEY_CHARS} visible ASCII characters` }
}

/** First use of a key (or its record has expired), the same request again, or another request under a used key. */
export function judgeKey(record: KeyRecord | null, fingerprint: string, nowMs: number): 'first' | 'repeat' | 'misuse' {
  if (!record || nowMs >= record.createdAtMs + IDEMPOTENCY_KEEP_MS) return 'first'
  return record.fingerprint === fingerprint ? 'repeat' : 'misuse'
}
