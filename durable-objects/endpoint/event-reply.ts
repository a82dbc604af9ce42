import { EVENT_STREAM_HEADERS } from '../../src/domain/text/sse.ts'

/** Approximate size of the portions in which chunks are read, because hundreds of readers may hold one each. */
export const PORTION_BYTES = 256 * 1024

/**
 * A `text/event-stream` reply. `next` is called only when the reader has room, and ends the reply by returning null; `leave` is called once
 * if the reader disconnects before the end. A slow reader thus delays reads of rows instead of filling memory.
 */
export function eventReply(request: Request, next: () => Promise<string | null>, leave: () => void): Response {
  const encoder = new TextEncoder()
  let over = false
  const end = () => {
    over = true
    request.signal.removeEventListener('abort', left)
  }
  const left = () => {
    if (over) return
    end()
    leave()
  }
  // A reset connection aborts the signal even while nothing is written; a closed one only fails the next write, which cancels the stream.
  request.signal.addEventListener('abort', left)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = over ? null : await next()
        if (text !== null && !over) return controller.enqueue(encoder.encode(text))
        end()
        controller.close()
      },
      cancel: left,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: EVENT_STREAM_HEADERS })
}
