import { headersForClient, headersForWorker, MAX_REQUEST_HEADER_BYTES, type RequestFacts } from '../../../src/domain/balancer/headers.ts'
import { OF_ONE_ANSWER, SPOKEN_FOR_OTHERS } from '../../support/http/answer-headers.ts'
import { describe, expect, it } from '../../support/unit.ts'

const FACTS: RequestFacts = {
  host: 'ep.lb.test',
  protocol: 'https',
  requestId: 'r1',
  clientAddress: '203.0.113.9',
  prefix: null,
  isChunked: false,
}
const SAID = [
  ['host', 'ep.lb.test'],
  ['x-forwarded-host', 'ep.lb.test'],
  ['x-forwarded-proto', 'https'],
  ['x-request-id', 'r1'],
  ['x-forwarded-for', '203.0.113.9'],
]

describe('headers of a request', () => {
  it('[LB-12] reach the worker without the key, connection headers and headers reserved to the plane', () => {
    const given: [string, string][] = [
      ['Authorization', 'Bearer rpa_secret'],
      ['Connection', 'keep-alive, X-Hop'],
      ['X-Hop', '1'],
      ['Transfer-Encoding', 'chunked'],
      ['CF-Connecting-IP', '1.1.1.1'],
      ['X-Forwarded-For', '1.1.1.1'],
      ['X-Podplane-User', 'root'],
      ['Cookie', 'session=1'],
      ['Accept', 'text/plain'],
    ]
    expect(headersForWorker(given, FACTS)).toEqual([...SAID, ['Cookie', 'session=1'], ['Accept', 'text/plain']])
    const below = headersForWorker(given, { ...FACTS, prefix: '/lb/ep', isChunked: true, clientAddress: null })
    expect(below).toEqual([
      ...SAID.slice(0, 4),
      ['x-forwarded-prefix', '/lb/ep'],
      ['transfer-encoding', 'chunked'],
      ['Accept', 'text/plain'],
    ])
  })

  it('[LB-12] are refused above 16 KiB', () => {
    expect(headersForWorker([['x-long', 'x'.repeat(MAX_REQUEST_HEADER_BYTES)]], FACTS)).toBeNull()
  })
})

describe('headers of an answer', () => {
  it('[LB-13] reach the client without connection headers, and under the plane without origin-wide ones', () => {
    const given: [string, string][] = [
      ['Connection', 'X-Hop'],
      ['X-Hop', '1'],
      ['X-Podplane-Failure', 'forged'],
      ['Set-Cookie', 'a=1'],
      ['Service-Worker-Allowed', '/'],
      ['Content-Type', 'text/html'],
    ]
    expect(headersForClient(given, true)).toEqual(given.slice(3))
    expect(headersForClient(given, false)).toEqual([
      ['Content-Type', 'text/html'],
      ['content-security-policy', 'sandbox'],
      ['x-content-type-options', 'nosniff'],
    ])
  })

  it('[S7] [EDG-11] no origin-wide header passes under the origin of the plane', () => {
    expect(new Set(SPOKEN_FOR_OTHERS).size).toBeGreaterThanOrEqual(35)
    const given = SPOKEN_FOR_OTHERS.map((name): [string, string] => [name, 'x'])
    expect(headersForClient(given, false).map(([name]) => name)).toEqual(['content-security-policy', 'x-content-type-options'])
  })

  it('[S7] headers about one answer pass, and those of an application', () => {
    const given = OF_ONE_ANSWER.map((name): [string, string] => [name, 'x'])
    expect(headersForClient(given, false).slice(0, -2)).toEqual(given)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', ' javascript:x', 'java\tscript:x', 'vbscript:x', 'blob:x', 'view-source:x'])(
    '[S7] [EDG-11] under the plane no redirect leads to code that a browser runs: %s',
    (value) => {
      expect(headersForClient([['Location', value]], false)).toHaveLength(2)
    },
  )

  it.each(['/lab', 'lab?x=a:b', '?next=1', '//elsewhere.example/x', 'https://elsewhere.example/', 'HTTP://x/'])(
    '[S7] [EDG-11] a redirect to a page passes: %s',
    (value) => {
      expect(headersForClient([['Location', value]], false)[0]).toEqual(['Location', value])
    },
  )
})
