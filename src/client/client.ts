import { readEvents, readEventsOnce, type ServerEvent, type StreamOptions } from './events.ts'
import type { AnswerOf, BodyOf, Method, Operation, PathOf } from './operation.ts'
import { OPERATIONS } from './operations/operations.ts'
import { PREVIEWS } from './operations/previews.ts'
import { type CallOptions, type Sent, Transport, type TransportOptions } from './transport.ts'

export { ApiError, ConnectionError } from './errors.ts'

type QueryValue = string | number | boolean | undefined
export type Query = Readonly<Record<string, QueryValue | readonly string[]>>

type Table = typeof OPERATIONS & typeof PREVIEWS
type Given<Op> = ([keyof PathOf<Op>] extends [never] ? { path?: PathOf<Op> } : { path: PathOf<Op> }) &
  ([BodyOf<Op>] extends [never] ? { body?: undefined } : { body: BodyOf<Op> }) & { query?: Query }
/** The first argument is optional only if the operation has no path parameter and no body. */
type Arguments<Op> = [keyof PathOf<Op> | BodyOf<Op>] extends [never]
  ? [given?: Given<Op>, options?: CallOptions]
  : [given: Given<Op>, options?: CallOptions]
type Call<Op> = Op extends { by: 'events' }
  ? (given: { path: PathOf<Op>; query?: Query }, options?: StreamOptions) => AsyncGenerator<ServerEvent>
  : Op extends { by: 'socket' }
    ? (given: { path: PathOf<Op>; query?: Query }) => URL
    : (...args: Arguments<Op>) => Promise<AnswerOf<Op>>

/** Request body of an operation, by its id. */
export type ApiBody<Id extends keyof Table> = BodyOf<Table[Id]>

/**
 * One function per operation of the REST API, the job API and the operator API, by its id in their documents, and per preview. An operation
 * with server-sent events returns a generator; one with a WebSocket returns its address, which the caller opens.
 */
export type ApiCalls = { [Id in keyof Table]: Call<Table[Id]> }

/** Calls of every operation of the plane by its id. Each throws `ApiError` or `ConnectionError`. */
export interface ApiClient extends ApiCalls {
  /** Sends any request; resolves to the parsed answer, or undefined if it has no body. */
  request(method: Method, path: string, body?: unknown, options?: CallOptions): Promise<unknown>
  /**
   * Requests server-sent events from an operation that otherwise answers with JSON. A broken GET resumes after its last event; other
   * methods are sent once.
   */
  events(method: Method, path: string, body?: unknown, options?: StreamOptions): AsyncGenerator<ServerEvent>
}

type AnyOperation = Pick<Operation, 'method' | 'path' | 'isCreate' | 'by'>

interface AnyGiven extends CallOptions {
  path?: Record<string, string>
  query?: Query
  body?: unknown
}

/** Creates a client of one plane. It holds no connection, so it needs no closing. */
export function connect(options: TransportOptions): ApiClient {
  const transport = new Transport(options)
  const calls = Object.entries<AnyOperation>({ ...OPERATIONS, ...PREVIEWS }).map(([id, operation]) => [
    id,
    callOf(transport, operation, options.url),
  ])
  const request = (method: Method, path: string, body?: unknown, call: CallOptions = {}) =>
    transport.json({ ...call, method, path, ...(body === undefined ? {} : { body }) })
  const events: ApiClient['events'] = (method, path, body, { lastEventId, onLink, ...call } = {}) => {
    const sent = { ...call, method, path, ...(body === undefined ? {} : { body }) }
    const given = { ...(lastEventId !== undefined && { lastEventId }), ...(onLink && { onLink }) }
    return method === 'GET' ? readEvents(transport, sent, given) : readEventsOnce(transport, sent)
  }
  return { ...(Object.fromEntries(calls) as ApiCalls), request, events }
}

/** Creates a client that authenticates with an API key. */
export function createApiClient(url: string, key: string): ApiClient {
  return connect({ url, credentials: { key } })
}

function callOf(transport: Transport, { method, path, isCreate, by }: AnyOperation, url: string) {
  return ({ path: names = {}, query = {}, body }: AnyGiven = {}, { lastEventId, onLink, ...options }: StreamOptions = {}) => {
    const address = addressOf(path, names, query)
    if (by === 'socket') return new URL(address, url.replace(/^http/, 'ws'))
    const sent: Sent = { ...options, method, isCreate, path: address, ...(body === undefined ? {} : { body }) }
    return by === 'events'
      ? readEvents(transport, sent, { ...(lastEventId !== undefined && { lastEventId }), ...(onLink && { onLink }) })
      : transport.json(sent)
  }
}

function addressOf(path: string, names: Readonly<Record<string, string>>, query: Query): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
  const search = new URLSearchParams()
  for (const [name, value] of pairs) if (value !== undefined) search.append(name, String(value))
  return search.size === 0 ? filled : `${filled}?${search}`
}
