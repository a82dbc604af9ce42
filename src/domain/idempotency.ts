/** `Idempotency-Key` on submits: a repeated request returns the job of the first and makes no other. Pure. */

/** The retention of a key, in milliseconds. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 3600 * 1000
/**
 * Upper bound of a stored response of a create, bytes: a body without env has up to 100 KiB, its command is in the response twice, and
 * encryption adds a third.
 */
export const MAX_ANSWER_BYTES = 384 * 1024
const MAX_KEY_CHARS = 255
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** The stored data of the first request under a key. */
export interface KeyRecord {
  /** Digest of operation, query and body. */
  fingerprint: string
  jobId: string
  createdAtMs: number
}

/** Reads the header. Null: none was sent. A refusal states the fault. */
export function readIdempotencyKey(header: string | null): { ok: true; key: string | null } | { ok: false; detail: string } {
  if (header === null || (header.length <= MAX_KEY_CHARS && VISIBLE_ASCII.test(header))) return { ok: true, key: header }
  return { ok: false, detail: `Idempotency-Key (header): want 1 to ${MAX_KEY_CHARS} visible ASCII characters` }
}

/** `first`: the key is new, or its record has expired. `repeat`: the same request again. `misuse`: another request under a used key. */
export function judgeKey(record: KeyRecord | null, fingerprint: string, nowMs: number): 'first' | 'repeat' | 'misuse' {
  if (!record || nowMs >= record.createdAtMs + IDEMPOTENCY_RETENTION_MS) return 'first'
  return record.fingerprint === fingerprint ? 'repeat' : 'misuse'
}
