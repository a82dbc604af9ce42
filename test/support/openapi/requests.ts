import fc from 'fast-check'
import type { Known } from './answers.ts'
import { type OpenApi, type Parameter, resolve } from './document.ts'
import { fittingValue, mutate, mutations } from './values.ts'

/** Placeholders in a path for the id of an existing thing and for an unknown id. */
export const REAL = '@real'
export const UNKNOWN = '@unknown'

/** A generated request: its sender fills in the ids. */
export interface GeneratedRequest {
  operation: Known
  params: Record<string, string>
  query: string
  headers: Record<string, string>
  body: string | null
}

const ODD_SEGMENTS = [
  '%00',
  '%2e%2e',
  '..%2fusers',
  '%F0%9F%92%A5',
  '%ff',
  '%',
  'null',
  'undefined',
  '0',
  '-1',
  '%20',
  'a'.repeat(2000),
  '@',
  '*',
  ':id',
]
const ODD_QUERY = [
  '',
  'true',
  '-1',
  '0',
  '1e9',
  '99999999999999999999',
  'NaN',
  '%00',
  '%ff',
  'x'.repeat(3000),
  '%F0%9F%92%A5',
  '1,2',
  '[]',
  '2026-13-01',
]
const ODD_HEADERS: Record<string, readonly string[]> = {
  'Content-Type': [
    'text/plain',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'multipart/form-data',
    'application/JSON',
    'x',
  ],
  Accept: ['text/csv', 'application/xml', '*/*;q=0', 'text/event-stream', ';;;'],
  'Idempotency-Key': ['', 'a', 'x'.repeat(256), 'a b', '"'],
  'If-Match': ['*', '"0"', 'W/"1"', '1', ',,,', '"'.repeat(50)],
  'Last-Event-ID': ['x', '2026-06-01T12:02:03Z', '2026-06-01T12:02:03Z/999999999999999', '-1', '1e9'],
  'X-Team-Id': ['x', '../..'],
  'X-Request-ID': ['x'.repeat(5000)],
  'Content-Encoding': ['gzip', 'br'],
  Range: ['bytes=0-1'],
  Prefer: ['wait=100000'],
}

/** Bodies that are no object, or no JSON at all. */
const BROKEN_BODIES = [
  '',
  ' ',
  '{',
  'null',
  '[]',
  '"text"',
  '1e999',
  '{}{}',
  '{"name":NaN}',
  "{'name':'x'}",
  '\ufeff{}',
  '{"name":"a","name":"b"}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"name":1e400}',
  '{"size":123456789012345678901234567890}',
  '{"__proto__":{"a":1}}',
  `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  '['.repeat(60_000),
  `{"name":"${'x'.repeat(110_000)}"}`,
]

/** Requests of an operation: most nearly valid, some not at all. */
export function requestsOf(operation: Known): fc.Arbitrary<GeneratedRequest> {
  const { document, parameters } = operation
  return fc.record({
    operation: fc.constant(operation),
    params: fc.record(named(parameters, 'path', () => segments(operation))),
    query: queryOf(document, parameters),
    headers: headersOf(document, parameters),
    body: bodyOf(operation),
  })
}

function named<Value>(parameters: readonly Parameter[], place: Parameter['in'], of: (parameter: Parameter) => fc.Arbitrary<Value>) {
  return Object.fromEntries(parameters.filter((parameter) => parameter.in === place).map((parameter) => [parameter.name, of(parameter)]))
}

/** An operation that ends its target seldom gets an existing one, or soon nothing would be left. */
function segments({ method }: Known): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: method === 'delete' ? 1 : 12, arbitrary: fc.constant(REAL) },
    { weight: 3, arbitrary: fc.constant(UNKNOWN) },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_SEGMENTS) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, unit: 'grapheme' }).map(encodeLeniently) },
  )
}

function queryOf(document: OpenApi, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const own = parameters.filter((parameter) => parameter.in === 'query')
  const pairs = own.map(({ name, schema, ...rest }) => {
    const fitting = fittingValue(document, { ...(rest as { example?: unknown }), ...schema }, name).map((value) => [
      `${name}=${encodeLeniently(String(value))}`,
    ])
    const odd = fc.constantFrom(...ODD_QUERY).map((value) => [`${name}=${value}`])
    const twice = fc.constantFrom(...ODD_QUERY).map((value) => [`${name}=${value}`, `${name}=1`])
    return fc.oneof(
      { weight: 6, arbitrary: fc.constant([]) },
      { weight: 4, arbitrary: fitting },
      { weight: 2, arbitrary: odd },
      { weight: 1, arbitrary: twice },
    )
  })
  const stray = fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.constantFrom(['unknown=1'], ['__proto__=1'], ['=']))
  return fc.tuple(...pairs, stray).map((parts) => parts.flat().join('&'))
}

function headersOf(document: OpenApi, parameters: readonly Parameter[]): fc.Arbitrary<Record<string, string>> {
  const fitting = named(parameters, 'header', ({ schema }) => fittingValue(document, resolve(document, schema)).map(String))
  const odd = Object.fromEntries(Object.entries(ODD_HEADERS).map(([name, values]) => [name, fc.constantFrom(...values)]))
  const seldom = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.subarray(Object.keys(odd), { maxLength: 1 }))
  const fits = fc.subarray(Object.keys(fitting))
  return fc.tuple(fc.record(fitting), fits, fc.record(odd), seldom).map(([own, ownNames, strange, oddNames]) => {
    const chosen = [...ownNames.map((name) => [name, own[name]]), ...oddNames.map((name) => [name, strange[name]])]
    return Object.fromEntries(chosen.filter(([, value]) => isHeaderValue(String(value))))
  })
}

function bodyOf({ document, operation }: Known): fc.Arbitrary<string | null> {
  const schema = operation.requestBody?.content['application/json']?.schema
  const broken = fc.constantFrom(...BROKEN_BODIES)
  if (!schema) return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: broken })
  const changed = fc
    .tuple(fittingValue(document, schema), mutations)
    .map(([value, changes]) => JSON.stringify(mutate(value, changes)) ?? '')
  const cut = fc.tuple(fittingValue(document, schema), fc.nat(100)).map(([value, length]) => JSON.stringify(value).slice(0, length))
  return fc.oneof({ weight: 14, arbitrary: changed }, { weight: 1, arbitrary: cut }, { weight: 2, arbitrary: broken })
}

/** A lone surrogate cannot be encoded in a URL, so it is left out there. */
function encodeLeniently(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Whether a client can send this value. */
function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
