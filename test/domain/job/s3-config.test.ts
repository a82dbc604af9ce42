import { describe, expect, test } from 'vitest'
import { readS3Config } from '../../../src/domain/job/s3-config.ts'

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
    [JSON.stringify({ ...full, accessSecret: undefined }), "$.s3Config: missing property 'accessSecret'"],
    [JSON.stringify({ ...full, accessId: '' }), '$.s3Config.accessId: want a string that is not empty'],
    [JSON.stringify({ ...full, bucketName: 7 }), '$.s3Config.bucketName: want a string that is not empty'],
    [JSON.stringify({ ...full, objectPath: {} }), '$.s3Config.objectPath: want a string that is not empty'],
    [JSON.stringify({ ...full, endpointUrl: 'x'.repeat(2_049) }), '$.s3Config.endpointUrl: longer than 2048 characters'],
    ['{"__proto__":{"accessId":"x"}}', "$.s3Config: missing property 'accessId'"],
  ])('[RUN-11] %s is refused by path, never by value', (json, detail) => {
    expect(readS3Config(json)).toEqual({ ok: false, detail })
  })
})
