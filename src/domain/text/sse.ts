/** Server-sent events as text (WHATWG HTML, "event stream"). Lines end with \n; a receiver also takes \r and \r\n as ends. */

/** A comment (LOG-4): receivers ignore it, proxies see that the connection is alive, and one that is dead fails at the write. */
export const PING = ': ping\n\n'

/** Headers of a stream: it is not to be kept, and no proxy may hold events back (LOG-1). */
export const EVENT_STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } as const

const LINE_END = /\r\n|\r|\n/g

/** One event. A line break in `data` starts a further `data:` line, which the receiver puts together again with \n. */
export function eventText(data: string, fields: { id?: number | string; event?: string } = {}): string {
  const id = fields.id === undefined ? '' : `id: ${fields.id}\n`
  const event = fields.event === undefined ? '' : `event: ${fields.event}\n`
  return `${id}${event}data: ${data.replace(LINE_END, '\ndata: ')}\n\n`
}

/** STR-10: whether a client asks for events instead of JSON. */
export function wantsEvents(accept: string | null): boolean {
  return accept?.includes('text/event-stream') ?? false
}

/**
 * STR-10: the last event that the client has seen; it gets those after it, 0 means all. An `EventSource` reconnects to the same URL, so
 * its `Last-Event-ID` is newer than `from`; one that is no number was not given by this stream.
 */
export function readLastSeen(lastEventId: string | null, from: number): number {
  return lastEventId !== null && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : from
}
