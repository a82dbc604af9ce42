import { answerFault, type Given } from '../support/openapi/answers.ts'
import { describe, expect, it } from '../support/unit.ts'

const RATE = { RateLimit: '"minute";r=59;t=30', 'RateLimit-Policy': '"minute";q=60;w=60' }
const KEYS = { keys: ['ssh-ed25519 AAAA'], makers: [{ userId: null, addedAt: null, endedBecause: null }] }

function given(change: Partial<Omit<Given, 'headers'>> & { headers?: Record<string, string>; body?: unknown }): Given {
  const { body = KEYS, headers = {}, ...rest } = change
  return {
    method: 'GET',
    url: new URL('http://plane.test/v2/account/ssh-keys'),
    status: 200,
    text: body === null ? null : JSON.stringify(body),
    ...rest,
    headers: new Headers({ 'content-type': 'application/json', etag: '"1"', ...headers }),
  }
}

const problem = (status: number) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: { title: 'Refused', status, detail: 'no' },
})

describe('[DOC-13] an answer is checked against its document', () => {
  const FITTING: Record<string, Given> = {
    'as documented': given({ headers: RATE }),
    'of an exempt account': given({}),
    'a problem': given(problem(403)),
    'a problem that any operation can answer': given(problem(503)),
    'a refusal where no operation is': given({ ...problem(404), url: new URL('http://plane.test/v2/nowhere/at/all') }),
    'what no document speaks for': given({ url: new URL('http://plane.test/v2/e1/job-take/w1'), body: { any: 1 } }),
  }
  it.for(Object.entries(FITTING))('passes: %s', ([, answer]) => {
    expect(answerFault(answer)).toBeNull()
  })

  const FAULTY: Record<string, [answer: Given, fault: string]> = {
    'a status that is not documented': [given(problem(418)), 'GET /v2/account/ssh-keys 418: this status is not documented'],
    'a type that is not documented': [given({ headers: { 'content-type': 'text/html' } }), 'content type text/html'],
    'a member that no schema names': [given({ body: { ...KEYS, more: 1 } }), '"additionalProperty":"more"'],
    'a member that is missing': [given({ body: { makers: [] } }), "must have required property 'keys'"],
    'a member of another type': [given({ body: { ...KEYS, keys: [1] } }), '/keys/0 must be string'],
    'a problem that lacks a member': [given({ ...problem(403), body: { title: 'x', status: 403 } }), "required property 'detail'"],
    'one of the two headers': [given({ headers: { RateLimit: RATE.RateLimit } }), 'one of the two rate limit headers is missing'],
    'a 429 that does not say when': [given(problem(429)), 'the header Retry-After is missing'],
    'rate limits of an unauthenticated caller': [
      given({ ...problem(401), headers: { ...problem(401).headers, ...RATE } }),
      'not documented',
    ],
    'an operation that no document has': [given({ method: 'POST' }), 'no document names this operation'],
  }
  it.for(Object.entries(FAULTY))('fails: %s', ([, [answer, fault]]) => {
    expect(answerFault(answer)).toContain(fault)
  })

  it('fails an invalid time', () => {
    const url = new URL('http://plane.test/v2/account/audit/state')
    expect(answerFault(given({ url, body: { at: 'yesterday' } }))).toMatch(/date-time|required/)
  })
})
