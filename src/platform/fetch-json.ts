/** Timeout of a fetch, milliseconds. */
export const FETCH_TIMEOUT_MS = 5_000

/** Optional parts of a request. */
interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/**
 * Fetches a small JSON document; `sent` overrides parts of the request. Throws if the status is not 2xx, if the body is larger than
 * `maxBytes`, or on a redirect: the document must be at the given URL.
 */
export async function fetchJson(url: string, maxBytes: number, sent: Sent = {}): Promise<unknown> {
  const headers = { accept: 'application/json', ...sent.headers }
  const init = { ...sent, redirect: 'manual', headers, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) } as const
  const response = await fetch(url, init)
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new Error(`${url} answers ${response.status}`)
  }
  return JSON.parse(await readText(response.body, maxBytes, url))
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
