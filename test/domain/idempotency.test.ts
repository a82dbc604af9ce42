import { describe, expect, test } from 'vitest'
import { IDEMPOTENCY_KEEP_MS, judgeKey, readIdempotencyKey } from '../../src/domain/idempotency.ts'
import { readS3Config } from '../../src/domain/s3-config.ts'

const RECORD = { fingerprint: 'a', jobId: 'job-1', createdAtMs: 1_000 }
const END = RECORD.createdAtMs + IDEMPOTENCY_KEEP_MS

describe('Idempotency-Key', () => {
  test('[PP-72] no record is a first use, the same request repeats, another one misuses', () => {
    expect(judgeKey(null, 'a', 1_000)).toBe('first')
    expect(judgeKey(RECORD, 'a', 1_000)).toBe('repeat')
    expect(judgeKey(RECORD, 'b', 1_000)).toBe('misuse')
  })

  test('[PP-72] a record counts for 24 hours: one millisecond before, at and after', () => {
    expect([END - 1, END, END + 1].map((nowMs) => judgeKey(RECORD, 'b', nowMs))).toEqual(['misuse', 'first', 'first'])
  })

  test.each(['', 'a b', 'ä', 'x'.repeat(256), 'tab\tin', 'nul\0'])('[PP-72] %j is refused', (header) => {
    expect(readIdempotencyKey(header)).toMatchObject({ ok: false })
  })

  test.each([null, 'a', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'x'.repeat(255)])('[PP-72] %j is read as it is', (header) => {
    expect(readIdempotencyKey(header)).toEqual({ ok: true, key: header })
  })
})

describe('s3Config', () => {
  const full = { accessId: 'id', accessSecret: 'secret', bucketName: 'bucket', endpointUrl: 'https://s3.example.com' }

  test('[RUN-1] the known members are kept, in one order, and nothing else', () => {
    expect(readS3Config(JSON.stringify({ ...full, objectPath: 'a/b', other: 1 }))).toEqual({
      ok: true,
      text: JSON.stringify({ ...full, objectPath: 'a/b' }),
    })
    expect(readS3Config(JSON.stringify({ ...full, objectPath: null }))).toEqual({ ok: true, text: JSON.stringify(full) })
    expect(readS3Config(undefined)).toEqual({ ok: true, text: null })
    expect(readS3Config('null')).toEqual({ ok: true, text: null })
  })

  test.each([
    ['"s3://x"', '$.s3Config: want an object'],
    ['[]', '$.s3Config: want an object'],
    [JSON.stringify({ ...full, accessSecret: undefined }), '$.s3Config.accessSecret: want a text'],
    [JSON.stringify({ ...full, accessId: '' }), '$.s3Config.accessId: want a text'],
    [JSON.stringify({ ...full, bucketName: 7 }), '$.s3Config.bucketName: want a text'],
    [JSON.stringify({ ...full, objectPath: {} }), '$.s3Config.objectPath: want a text'],
    [JSON.stringify({ ...full, endpointUrl: 'x'.repeat(2_049) }), '$.s3Config.endpointUrl: longer than 2048 characters'],
    ['{"__proto__":{"accessId":"x"}}', '$.s3Config.accessId: want a text'],
  ])('[PP-73] %s is refused by path, never by value', (json, detail) => {
    expect(readS3Config(json)).toEqual({ ok: false, detail })
  })
})
