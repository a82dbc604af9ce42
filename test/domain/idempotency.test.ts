import { describe, expect, test } from 'vitest'
import { IDEMPOTENCY_RETENTION_MS, judgeKey, readIdempotencyKey } from '../../src/domain/idempotency.ts'

const RECORD = { fingerprint: 'a', jobId: 'job-1', createdAtMs: 1_000 }
const END = RECORD.createdAtMs + IDEMPOTENCY_RETENTION_MS

describe('Idempotency-Key', () => {
  test('[RUN-13] no record is a first use, the same request repeats, another one misuses', () => {
    expect(judgeKey(null, 'a', 1_000)).toBe('first')
    expect(judgeKey(RECORD, 'a', 1_000)).toBe('repeat')
    expect(judgeKey(RECORD, 'b', 1_000)).toBe('misuse')
  })

  test('[RUN-13] a record counts for 24 hours: one millisecond before, at and after', () => {
    expect([END - 1, END, END + 1].map((nowMs) => judgeKey(RECORD, 'b', nowMs))).toEqual(['misuse', 'first', 'first'])
  })

  test.each(['', 'a b', 'ä', 'x'.repeat(256), 'tab\tin', 'nul\0'])('[RUN-13] %j is refused', (header) => {
    expect(readIdempotencyKey(header)).toMatchObject({ ok: false })
  })

  test.each([null, 'a', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'x'.repeat(255)])('[RUN-13] %j is read as it is', (header) => {
    expect(readIdempotencyKey(header)).toEqual({ ok: true, key: header })
  })
})
