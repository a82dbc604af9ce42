import { describe, expect, test } from 'vitest'
import { WaitQuery } from '../../../src/contract/jobs/queries.ts'
import { readSubmission } from '../../../src/domain/job/submit.ts'
import { readChunk, readWorkerPost } from '../../../src/domain/job/worker-post.ts'
import { parseAllowList } from '../../../src/domain/webhook/url.ts'

const NONE = parseAllowList('')

describe('submit body', () => {
  test('[RUN-2] an empty input object is valid and kept as it came', () => {
    expect(readSubmission('{"input":{ }}', null, NONE)).toEqual({
      ok: true,
      submission: { input: '{ }', executionTimeoutMs: null, ttlMs: 86_400_000, lowPriority: false, webhook: null, s3Config: null },
    })
  })

  test.each([
    ['not json', '{"input":', '$: the body is not valid JSON, or nests deeper than 5000 levels'],
    [
      'json too deep',
      `{"input":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
      '$: the body is not valid JSON, or nests deeper than 5000 levels',
    ],
    ['65 members', `{"input":{}${',"k":1'.repeat(64)}}`, '$: more than 64 members: put them into "input"'],
    ['an array', '[]', '$: want an object with "input"'],
    ['no input', '{}', "$: missing property 'input'"],
    ['input null', '{"input":null}', '$.input: want an object'],
    ['input array', '{"input":[1]}', '$.input: want an object'],
    ['input string', '{"input":"{}"}', '$.input: want an object'],
    ['policy array', '{"input":{},"policy":[]}', '$.policy: want an object'],
    ['unknown policy member', '{"input":{},"policy":{"x":1}}', "$.policy: additional properties 'x' not allowed"],
    ['lowPriority text', '{"input":{},"policy":{"lowPriority":"yes"}}', '$.policy.lowPriority: want a boolean'],
    ['timeout text', '{"input":{},"policy":{"executionTimeout":"5000"}}', '$.policy.executionTimeout: want an integer, milliseconds'],
    ['timeout fraction', '{"input":{},"policy":{"executionTimeout":5000.5}}', '$.policy.executionTimeout: want an integer, milliseconds'],
  ])('[RUN-5] %s is refused with its path', (_title, body, detail) => {
    expect(readSubmission(body, null, NONE)).toEqual({ ok: false, detail })
  })

  test.each([
    ['executionTimeout', 5_000, 604_800_000],
    ['ttl', 10_000, 604_800_000],
  ])('[RUN-5] %s takes its bounds and nothing beyond', (name, min, max) => {
    const at = (value: number) => readSubmission(JSON.stringify({ input: {}, policy: { [name]: value } }), null, NONE).ok
    expect([at(min - 1), at(min), at(max), at(max + 1)]).toEqual([false, true, true, false])
  })

  test('[RUN-6] the ttl query is an alias that the body overrides, and below 10 s it is refused', () => {
    const ttl = (body: string, query: string) => {
      const read = readSubmission(body, query, NONE)
      return read.ok ? read.submission.ttlMs : read.detail
    }
    expect(ttl('{"input":{}}', '20000')).toBe(20_000)
    expect(ttl('{"input":{},"policy":{"ttl":30000}}', '20000')).toBe(30_000)
    expect(ttl('{"input":{}}', '6000')).toMatch(/^ttl \(query\): must be between/)
    expect(ttl('{"input":{}}', 'soon')).toMatch(/^ttl \(query\): want an integer/)
  })

  test.each([
    ['"https://example.com/a?b=1"', 'https://example.com/a?b=1'],
    ['"https:\\/\\/example.com\\/"', 'https://example.com/'],
    ['null', null],
  ])('[RUN-1] webhook %s is taken', (json, webhook) => {
    expect(readSubmission(`{"input":{},"webhook":${json}}`, null, NONE)).toMatchObject({ ok: true, submission: { webhook } })
  })

  test.each([
    ['5', '$.webhook: want a string, the URL to notify'],
    ['["https://example.com/"]', '$.webhook: want a string, the URL to notify'],
    ['false', '$.webhook: want a string, the URL to notify'],
    ['""', '$.webhook: want an absolute https URL'],
    ['"https://10.0.0.1/"', '$.webhook: the host is private, loopback, link-local or reserved; want a public one'],
  ])('[HOOK-7] webhook %s is refused with its path', (json, detail) => {
    expect(readSubmission(`{"input":{},"webhook":${json}}`, null, NONE)).toEqual({ ok: false, detail })
  })

  test('[API-14] unknown members are ignored', () => {
    expect(readSubmission('{"input":{},"webhookV2":"x","other":1}', null, NONE).ok).toBe(true)
  })
})

test.each([
  [undefined, 90_000],
  ['5000', 5_000],
  ['0', 1_000],
  ['-4', 1_000],
  ['999999999', 300_000],
  ['soon', 90_000],
  ['', 90_000],
])('[API-11] wait=%s holds %i ms', (wait, held) => {
  expect(WaitQuery.shape.wait.parse(wait)).toBe(held)
})

describe('worker posts', () => {
  test.each([
    ['{"output":{"a":1.0}}', { kind: 'result', output: '{"a":1.0}', error: null, stopWorker: false }],
    ['{}', { kind: 'result', output: undefined, error: null, stopWorker: false }],
    ['{"output":null}', { kind: 'result', output: 'null', error: null, stopWorker: false }],
    ['{"error":{"a":1}}', { kind: 'result', output: undefined, error: '{"a":1}', stopWorker: false }],
    ['{"error":"x","output":[1]}', { kind: 'result', output: '[1]', error: 'x', stopWorker: false }],
    ['{"error":"","output":1}', { kind: 'result', output: '1', error: null, stopWorker: false }],
    ['{"output":1,"stopPod":true}', { kind: 'result', output: '1', error: null, stopWorker: true }],
    ['{"output":1,"stopPod":"no"}', { kind: 'result', output: '1', error: null, stopWorker: false }],
    ['{"status":"IN_PROGRESS","output":"50%"}', { kind: 'progress', output: '"50%"' }],
    ['{"output":NaN}', { kind: 'result', output: 'null', error: null, stopWorker: false }],
  ])('[WRK-13, WRK-14] %s', (body, post) => {
    expect(readWorkerPost(body)).toEqual(post)
  })

  test('a result that is no JSON object fails the job with that reason', () => {
    expect(readWorkerPost('<html>')).toMatchObject({ kind: 'result', error: 'the worker returned a result that is not a JSON object' })
  })

  test.each([
    ['{"output":1,"extra":2}', '{"output":1,"extra":2}'],
    ['[1,2]', '{"output":[1,2]}'],
    ['"text"', '{"output":"text"}'],
    ['not json', '{"output":"not json"}'],
  ])('[STR-2] chunk %s', (body, chunk) => {
    expect(readChunk(body)).toBe(chunk)
  })
})
