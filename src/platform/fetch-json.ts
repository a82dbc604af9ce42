/** An answer that is still not there by then is given up. */
export const FETCH_TIMEOUT_MS = 5_000

/** What a request may carry. */
interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/**
 * Fetches a small JSON document. Throws when there is none, it is larger than `maxBytes`, or another address would have to be asked: what is
 * read stands at the address that was named. `sent`: what goes there beside the wish for JSON.
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

/** The text of a body. Throws when it has more than `maxBytes`; `url` is for the words of that. */
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
