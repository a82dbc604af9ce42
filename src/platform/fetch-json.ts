/** Timeout of a fetch, milliseconds. */
export const FETCH_TIMEOUT_MS = 5_000

interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: URLSearchParams | undefined
}

/**
 * Fetches a small JSON document. Throws if the status is not 2xx, if the body is larger than `maxBytes`, or on a redirect: the document
 * must be at the given URL.
 */
export async function fetchJson(url: string, maxBytes: number): Promise<unknown> {
  const response = await boundedFetch(maxBytes)(url, { headers: { accept: 'application/json' } })
  if (!response.ok || response.body === null) throw new Error(`${url} answers ${response.status}`)
  return response.json()
}

/** A `fetch` that follows no redirect, takes at most 5 s, and throws if the answer is larger than `maxBytes`. */
export function boundedFetch(maxBytes: number) {
  return async (url: string, { body, ...init }: Sent): Promise<Response> => {
    const sent = { ...init, body: body ?? null, redirect: 'manual', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) } as const
    const response = await fetch(url, sent)
    if (response.body === null) return response
    // The text is already decoded, so other headers, such as Content-Encoding, do not describe it.
    const headers = { 'content-type': response.headers.get('content-type') ?? '' }
    return new Response(await readText(response.body, maxBytes, url), { status: response.status, headers })
  }
}

/** Reads a body as UTF-8. Throws if it has more than `maxBytes`; `url` appears in that error. */
export async function readText(body: ReadableStream<Uint8Array>, maxBytes: number, url: string): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new Error(`${url} answers with more than ${maxBytes} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
