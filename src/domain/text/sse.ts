/** Server-sent events as text (WHATWG HTML, "event stream"). Lines end with \n; a receiver also takes \r and \r\n as ends. */

/** A comment event (LOG-4): receivers ignore it, proxies see that the connection is alive, and the write fails when it is not. */
export const PING = ': ping\n\n'

/** Headers of a stream: it must not be cached, and proxies must not buffer events (LOG-1). */
export const EVENT_STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } as const

const LINE_END = /\r\n|\r|\n/g

/**
 * Text of one event. A line break in `data` starts a further `data:` line; the receiver joins the lines with
 * .
 */
export function eventText(data: string, fields: { id?: number | string; event?: string } = {}): string {
  const id = fields.id === undefined ? '' : `id: ${fields.id}\n`
  const event = fields.event === undefined ? '' : `event: ${fields.event}\n`
  return `${id}${event}data: ${data.replace(LINE_END, '\ndata: ')}\n\n`
}

/** STR-10: whether a client requests events instead of JSON. */
export function wantsEvents(accept: string | null): boolean {
  return accept?.includes('text/event-stream') ?? false
}

/**
 * STR-10: number of the last event that the client has received; 0: none. An `EventSource` reconnects to the same URL, so its
 * `Last-Event-ID` takes precedence over `from`. A value that is not a number does not come from this stream and is ignored.
 */
export function readLastSeen(lastEventId: string | null, from: number): number {
  return lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : from
}
