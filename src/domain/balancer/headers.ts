import { type HeaderList, MAX_HEADER_NAME_CHARS, MAX_HEADERS } from '../../host-protocol/tunnel/frames.ts'
import { isOwnCookie, withoutOwnCookies } from '../session/console.ts'

/** Headers of requests to workers and of their responses (LB-12, LB-13). Pure. */

/** Upper bound of all header names and values of one request together. */
export const MAX_REQUEST_HEADER_BYTES = 16 * 1024

/** Hop-by-hop headers: each describes one connection, and a request passes several (RFC 9110 §7.6.1). */
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
/** A client could forge these headers, so the plane sets them itself or drops them. */
const SAID_BY_PLANE = /^(?:cf-.*|x-podplane-.*|podplane-.*|x-forwarded-.*|x-real-ip|forwarded|cdn-loop|true-client-ip)$/
/** Headers withheld from workers: the key in `authorization` is meant for the plane. */
const KEPT_FROM_WORKERS = ['authorization', 'expect']
/**
 * The only headers that pass on the plane's own address: those that concern one response. Others affect the whole origin in a browser
 * (cookies, reports on later requests, tokens, sign-in prompts), and browsers add new ones every year.
 */
const PASSED_ON_PLANE_ORIGIN = new Set(
  `accept-ranges access-control-allow-headers access-control-allow-methods access-control-allow-origin
  access-control-expose-headers access-control-max-age age allow cache-control content-disposition content-encoding content-language
  content-length content-location content-range content-security-policy content-type date deprecation etag expires grpc-message grpc-status last-modified location openai-model openai-organization openai-processing-ms
  openai-version pragma ratelimit ratelimit-limit ratelimit-policy ratelimit-remaining ratelimit-reset referrer-policy
  retry-after sec-websocket-accept sec-websocket-extensions sec-websocket-protocol server sunset traceparent vary warning`.split(/\s+/),
)
/**
 * Application headers that are dropped: a reverse proxy in front of the plane or a browser would obey them, or the plane sets them itself.
 */
const NOT_PASSED =
  /^x-(?:accel-|content-type-options$|sendfile|lighttpd-|reproxy-|account-id$|podplane-|sourcemap$|dns-prefetch-control$|permitted-cross-domain-policies$)/

/** A `Location` on the web or within the same origin: no scheme that runs code, such as `javascript:`. */
const LEADS_TO_A_PAGE = /^(?:https?:|(?![a-z][a-z0-9+.-]*:))[\x21-\x7e]*$/i

/** Facts of a request as it came in. */
export interface RequestFacts {
  host: string
  protocol: string
  requestId: string
  clientAddress: string | null
  /** Path prefix under the plane's own address that the worker does not see; null: the endpoint has its own host name. */
  prefix: string | null
  /** The request has a body of undeclared length. */
  isChunked: boolean
  /** `Authorization` is passed to the workload, because the plane itself requires none. */
  passesAuthorization?: boolean
}

/** The headers that a worker receives with a request; null if they exceed the limits. */
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

/**
 * The response headers that a client receives (LB-13). `isOwnOrigin`: the workload has its own host name. `sandbox`: the content security
 * policy of its pages where it has none.
 */
export function headersForClient(headers: HeaderList, isOwnOrigin: boolean, sandbox = 'sandbox'): HeaderList {
  const dropped = new Set([...HOP_BY_HOP, ...namedIn(headers)])
  const passed = headers.filter(([given, value]) => {
    const name = given.toLowerCase()
    if (dropped.has(name) || NOT_PASSED.test(name) || setsOwnCookie(name, value)) return false
    if (isOwnOrigin) return true
    if (name === 'location' && !LEADS_TO_A_PAGE.test(value)) return false
    return PASSED_ON_PLANE_ORIGIN.has(name) || name.startsWith('x-')
  })
  // A worker's page gets an opaque origin, so that its scripts cannot access the plane.
  return isOwnOrigin ? passed : [...passed, ['content-security-policy', sandbox], ['x-content-type-options', 'nosniff']]
}

// SESSION-8: a console session's cookies are never passed to a workload, wherever a browser sends them.
function withoutSession(headers: readonly (readonly [string, string])[]): HeaderList {
  return headers.flatMap(([name, value]): HeaderList => {
    const left = name.toLowerCase() === 'cookie' ? withoutOwnCookies(value) : value
    return left === null ? [] : [[name, left]]
  })
}

// SESSION-8: a workload cannot set such a cookie either, for a domain that it shares with the plane.
function setsOwnCookie(name: string, value: string): boolean {
  return name.toLowerCase() === 'set-cookie' && isOwnCookie(value.split('=', 1)[0] ?? '')
}

// `Connection` may name further headers that concern this connection only.
function namedIn(headers: readonly (readonly [string, string])[]): string[] {
  const connection = headers.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  return connection.flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase()))
}
