import type { HeaderList } from '../../host-protocol/tunnel/frames.ts'
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
/** On the plane's own address a worker could otherwise speak to the browser for the whole plane. */
const KEPT_FROM_PLANE_ORIGIN = ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security', 'alt-svc']

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
  return list.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MAX_REQUEST_HEADER_BYTES ? null : list
}

/** What a client is told of an answer. `isOwnOrigin`: the workload has a name of its own; `sandbox`: what its pages may do where it has none. */
export function headersForClient(headers: HeaderList, isOwnOrigin: boolean, sandbox = 'sandbox'): HeaderList {
  const dropped = new Set([...HOP_BY_HOP, ...namedIn(headers), ...(isOwnOrigin ? [] : KEPT_FROM_PLANE_ORIGIN)])
  const passed = headers.filter(
    ([name, value]) => !dropped.has(name.toLowerCase()) && !/^x-podplane-/i.test(name) && !setsOwnCookie(name, value),
  )
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
