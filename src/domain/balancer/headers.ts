import { type HeaderList, MAX_HEADER_NAME_CHARS, MAX_HEADERS } from '../../host-protocol/tunnel/frames.ts'
import { isOwnCookie, withoutOwnCookies } from '../session/console.ts'

/** Headers of requests to workers and of their answers (LB-12, LB-13). Pure. */

/** Names and values of a request, together. */
export const MAX_REQUEST_HEADER_BYTES = 16 * 1024

/** They are about one connection, and there are several on the way. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** Whoever believed them would believe the client, so the plane says them itself or not at all. */
const SAID_BY_PLANE = /^(?:cf-.*|x-podplane-.*|podplane-.*|x-forwarded-.*|x-real-ip|forwarded|cdn-loop|true-client-ip)$/
/** The key that opened the plane is none of the worker's business. */
const KEPT_FROM_WORKERS = ['authorization', 'expect']
/**
 * All that passes on the plane's own address: what is about this one answer. Others speak to the browser for the whole origin (cookies, reports
 * of every later request, tokens, sign-in prompts), and browsers learn new ones every year.
 */
const PASSED_ON_PLANE_ORIGIN = new Set(
  `accept-ranges access-control-allow-headers access-control-allow-methods access-control-allow-origin
  access-control-expose-headers access-control-max-age age allow cache-control content-disposition content-encoding content-language
  content-length content-location content-range content-security-policy content-type date deprecation etag expires grpc-message grpc-status last-modified location openai-model openai-organization openai-processing-ms
  openai-version pragma ratelimit ratelimit-limit ratelimit-policy ratelimit-remaining ratelimit-reset referrer-policy
  retry-after sec-websocket-accept sec-websocket-extensions sec-websocket-protocol server sunset traceparent vary warning`.split(/\s+/),
)
/** Of an application's own headers, those that a reverse proxy in front of the plane or a browser would obey, or that the plane says itself. */
const NOT_PASSED =
  /^x-(?:accel-|content-type-options$|sendfile|lighttpd-|reproxy-|account-id$|podplane-|sourcemap$|dns-prefetch-control$|permitted-cross-domain-policies$)/

/** Another place of the web, or of the same origin; no scheme that runs something. */
const LEADS_TO_A_PAGE = /^(?:https?:|(?![a-z][a-z0-9+.-]*:))[\x21-\x7e]*$/i

/** How a request came in. */
export interface RequestFacts {
  host: string
  protocol: string
  requestId: string
  clientAddress: string | null
  /** What stands before the path that the worker sees, under the plane's own address; null: the endpoint has a name of its own. */
  prefix: string | null
  /** It has a body whose length nobody announced. */
  isChunked: boolean
  /** Its `Authorization` is meant for the workload, as the plane asks for none. */
  passesAuthorization?: boolean
}

/** What a worker is told of a request; null when that is too much. */
export function headersForWorker(headers: Iterable<readonly [string, string]>, facts: RequestFacts): HeaderList | null {
  const given = [...headers]
  const kept = facts.passesAuthorization ? KEPT_FROM_WORKERS.filter((name) => name !== 'authorization') : KEPT_FROM_WORKERS
  const dropped = new Set([...HOP_BY_HOP, ...kept, ...namedIn(given), 'host', ...(facts.prefix === null ? [] : ['cookie'])])
  const passed = withoutSession(given).filter(([name]) => !dropped.has(name.toLowerCase()) && !SAID_BY_PLANE.test(name.toLowerCase()))
  const said: HeaderList = [
    ['host', facts.host],
    ['x-forwarded-host', facts.host],
    ['x-forwarded-proto', facts.protocol],
    ['x-request-id', facts.requestId],
  ]
  if (facts.clientAddress !== null) said.push(['x-forwarded-for', facts.clientAddress])
  if (facts.prefix !== null) said.push(['x-forwarded-prefix', facts.prefix])
  if (facts.isChunked) said.push(['transfer-encoding', 'chunked'])
  const list: HeaderList = [
    ...said,
    ...passed.filter(([name]) => name.toLowerCase() !== 'x-request-id').map(([n, v]): [string, string] => [n, v]),
  ]
  const bytes = list.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const isTooMuch =
    bytes > MAX_REQUEST_HEADER_BYTES || list.length > MAX_HEADERS || list.some(([name]) => name.length > MAX_HEADER_NAME_CHARS)
  return isTooMuch ? null : list
}

/** What a client is told of an answer (LB-13). `isOwnOrigin`: the workload has a name of its own; `sandbox`: what its pages may do where it has none. */
export function headersForClient(headers: HeaderList, isOwnOrigin: boolean, sandbox = 'sandbox'): HeaderList {
  const dropped = new Set([...HOP_BY_HOP, ...namedIn(headers)])
  const passed = headers.filter(([given, value]) => {
    const name = given.toLowerCase()
    if (dropped.has(name) || NOT_PASSED.test(name) || setsOwnCookie(name, value)) return false
    if (isOwnOrigin) return true
    if (name === 'location' && !LEADS_TO_A_PAGE.test(value)) return false
    return PASSED_ON_PLANE_ORIGIN.has(name) || name.startsWith('x-')
  })
  // A page of a worker is shown as of no origin, so that its scripts reach nothing of the plane.
  return isOwnOrigin ? passed : [...passed, ['content-security-policy', sandbox], ['x-content-type-options', 'nosniff']]
}

// CS-8: a session of the console is no workload's business, wherever a browser sends it.
function withoutSession(headers: readonly (readonly [string, string])[]): HeaderList {
  return headers.flatMap(([name, value]): HeaderList => {
    const left = name.toLowerCase() === 'cookie' ? withoutOwnCookies(value) : value
    return left === null ? [] : [[name, left]]
  })
}

// CS-8: nor does a workload plant one, for a domain that it shares with the plane.
function setsOwnCookie(name: string, value: string): boolean {
  return name.toLowerCase() === 'set-cookie' && isOwnCookie(value.split('=', 1)[0] ?? '')
}

// `Connection` may name others that are about this connection alone.
function namedIn(headers: readonly (readonly [string, string])[]): string[] {
  const connection = headers.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  return connection.flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}
