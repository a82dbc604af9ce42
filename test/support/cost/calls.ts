import { env, vi } from '../harness.ts'

/** A call of a Durable Object. */
export interface ObjectCall {
  text: string
  /** Bytes of its arguments and of its result, as far as they have passed. */
  bytes: number
}

/** Members of a stub that call no object. */
const OWN = new Set<string | symbol>(['id', 'name', 'constructor', 'then', 'dup'])
/** The test runner's own calls have this property. */
const OF_THE_RUNNER = 'vitestPoolWorkersDurableObjectAction'
const encoder = new TextEncoder()

/**
 * Passes every call of a Durable Object to `note` when it starts: fetches and calls of methods, from the Worker and from other objects. The
 * tests, the plane and its objects share one isolate, so the runtime's own class is the place that sees all of them. Frames of WebSockets
 * are no calls. Ends with `vi.restoreAllMocks()`.
 */
export function watchObjectCalls(note: (call: ObjectCall) => void): void {
  const prototype = Object.getPrototypeOf(env.HOST) as { get: DurableObjectNamespace['get'] }
  const { get } = prototype
  vi.spyOn(prototype, 'get').mockImplementation(function (this: DurableObjectNamespace, ...which) {
    return watched(get.apply(this, which), note)
  } as typeof get)
}

function watched(stub: DurableObjectStub, note: (call: ObjectCall) => void): DurableObjectStub {
  return new Proxy(stub, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown
      if (typeof name === 'symbol' || OWN.has(name) || typeof member !== 'function') return member
      if (name === 'fetch') return (input: RequestInfo, init?: RequestInit) => watchedFetch(target, input, init, note)
      return async (...values: unknown[]) => {
        const call = { text: name, bytes: sizeOf(values) }
        note(call)
        const result: unknown = await Reflect.apply(member, target, values)
        call.bytes += sizeOf(result)
        return result
      }
    },
  })
}

async function watchedFetch(
  stub: DurableObjectStub,
  input: RequestInfo,
  init: RequestInit | undefined,
  note: (call: ObjectCall) => void,
): Promise<Response> {
  if (OF_THE_RUNNER in (init?.cf ?? {})) return stub.fetch(input, init)
  const request = input instanceof Request && init === undefined ? input : new Request(input, init)
  const { pathname } = new URL(request.url)
  const call = { text: `fetch ${pathname}`, bytes: request.url.length + headerBytes(request.headers) }
  note(call)
  countBody(request, call)
  const response = await stub.fetch(request)
  call.bytes += headerBytes(response.headers)
  if (response.webSocket === null) countBody(response, call)
  return response
}

function headerBytes(headers: Headers): number {
  return [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0)
}

/** Counts a body while its receiver reads it. A body that is cancelled counts as far as it came. */
function countBody(message: Request | Response, call: ObjectCall): void {
  if (message.body === null) return
  const count = async (body: ReadableStream<Uint8Array> | null) => {
    for await (const piece of body ?? []) call.bytes += piece.byteLength
  }
  void count(message.clone().body).catch(() => undefined)
}

/** Bytes of a value as JSON in UTF-8; binary data counts as it is, and streams do not count. */
export function sizeOf(value: unknown): number {
  let binary = 0
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (!(part instanceof ArrayBuffer || ArrayBuffer.isView(part))) return part
    binary += part.byteLength
    return undefined
  })
  return binary + encoder.encode(text ?? '').byteLength
}
