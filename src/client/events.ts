import { ApiError, ConnectionError } from './errors.ts'
import { type CallOptions, pause, type Sent, type Transport } from './transport.ts'

/** Event of a stream (WHATWG HTML, "event stream"). */
export interface ServerEvent {
  /** Latest id in the stream; a reconnect resumes after it. */
  id: string
  event: string
  data: string
}

/** Options for reading a stream. */
export interface StreamOptions extends CallOptions {
  lastEventId?: string
  /** Called with true when the stream opens, and with false when it breaks and is about to be reopened. */
  onLink?: (isOpen: boolean) => void
}

/** Time without any bytes after which a stream counts as broken, milliseconds; the plane sends comments in between. */
const SILENCE_MS = 60_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** Longest delay of a timer, milliseconds. */
const FOREVER_MS = 2 ** 31 - 1
const LINE_END = /\r\n|\n|\r(?!$)/

/**
 * Yields the events of a stream until the plane ends it. A broken stream is reopened after the last event, so that no event is lost or
 * repeated. Throws `ApiError` when the plane refuses, and the reason of the signal once it fires.
 */
export async function* readEvents(
  transport: Transport,
  sent: Sent,
  { lastEventId = '', onLink }: Pick<StreamOptions, 'lastEventId' | 'onLink'> = {},
): AsyncGenerator<ServerEvent> {
  let last = lastEventId
  for (let failed = 0; ; failed += 1) {
    try {
      const response = await transport.send({ ...sent, headers: { ...sent.headers, ...eventHeaders(last) }, timeoutMs: FOREVER_MS })
      if (!response.body) return
      onLink?.(true)
      for await (const event of parseEvents(response.body)) {
        last = event.id
        failed = 0
        yield event
      }
      return
    } catch (error) {
      sent.signal?.throwIfAborted()
      if (error instanceof ApiError && !error.retryable) throw error
      if (!(error instanceof ApiError || error instanceof ConnectionError || error instanceof BrokenStream)) throw error
      onLink?.(false)
      await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed), sent.signal)
    }
  }
}

/**
 * Yields the events of a request that must not be repeated; an answer that is not an event stream is one event. Throws if the stream
 * breaks.
 */
export async function* readEventsOnce(transport: Transport, sent: Sent): AsyncGenerator<ServerEvent> {
  const response = await transport.send({ ...sent, headers: { ...sent.headers, ...eventHeaders('') }, timeoutMs: FOREVER_MS })
  if (!response.headers.get('content-type')?.includes('text/event-stream')) {
    yield { id: '', event: 'message', data: await response.text() }
    return
  }
  if (response.body) yield* parseEvents(response.body)
}

class BrokenStream extends Error {}

function eventHeaders(last: string): Record<string, string> {
  return { accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) }
}

/** Parses the bytes of an event stream. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const event = { id: '', event: 'message', data: [] as string[] }
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await readWithin(reader)
      rest += decoder.decode(value, { stream: !done })
      const lines = rest.split(LINE_END)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line !== '') readLine(event, line)
        else if (event.data.length > 0) {
          yield { id: event.id, event: event.event, data: event.data.join('\n') }
          event.data = []
          event.event = 'message'
        }
      }
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
  const silence = new AbortController()
  const silent = pause(SILENCE_MS, silence.signal).then(() => Promise.reject(new BrokenStream('nothing came')))
  // The promise may reject after the race has ended; its rejection must not be unhandled.
  silent.catch(() => {})
  try {
    return await Promise.race([reader.read(), silent])
  } catch (error) {
    throw error instanceof BrokenStream ? error : new BrokenStream('the stream broke off', { cause: error })
  } finally {
    silence.abort()
  }
}

function readLine(event: { id: string; event: string; data: string[] }, line: string): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const field = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (field === 'data') event.data.push(value)
  else if (field === 'event') event.event = value
  else if (field === 'id' && !value.includes('\0')) event.id = value
}
