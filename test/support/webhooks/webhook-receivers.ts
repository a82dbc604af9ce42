// Runs in Node, beside the runtime: all outgoing requests of the plane under test arrive here, whatever their host.
import { createHash } from 'node:crypto'
import { type Request, Response } from 'miniflare'

/** A request as a receiver got it. `body` is left out of large requests. */
export interface Received {
  path: string
  headers: Record<string, string>
  body: string | null
  bytes: number
  sha256: string
}

/** Host of the tests' own requests to this file. */
const CONTROL_HOST = 'control.example.com'
const MAX_KEPT_BODY_BYTES = 100_000

const received = new Map<string, Received[]>()
const held = new Map<string, (() => void)[]>()

/**
 * Answers a webhook by its path: `/ok`, `/status/<code>`, `/fail/<n>` (the first n requests of a host), `/redirect`, `/hold` (no answer
 * until released, as with the query `hold` on any path). `GET https://control.example.com/received/<host>` returns the received requests,
 * `/release/<host>` ends the held ones.
 */
export async function answerOutside(request: Request): Promise<Response> {
  const url = new URL(request.url)
  if (url.hostname === CONTROL_HOST) return control(url)
  const list = received.get(url.hostname) ?? []
  received.set(url.hostname, list)
  const bytes = Buffer.from(await request.arrayBuffer())
  list.push({
    path: url.pathname,
    headers: Object.fromEntries(request.headers),
    body: bytes.length <= MAX_KEPT_BODY_BYTES ? bytes.toString('utf8') : null,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  return answer(url, list.length)
}

async function answer(url: URL, count: number): Promise<Response> {
  const [, kind = '', value = ''] = url.pathname.split('/')
  if (kind === 'hold' || url.searchParams.has('hold')) {
    await new Promise<void>((resolve) => held.set(url.hostname, [...(held.get(url.hostname) ?? []), resolve]))
    return new Response('late')
  }
  switch (kind) {
    case 'status':
      return new Response(Number(value) === 204 ? null : 'answer', { status: Number(value) })
    case 'fail':
      return new Response('answer', { status: count > Number(value) ? 200 : 503 })
    case 'redirect':
      return new Response(null, { status: 302, headers: { location: `https://${url.hostname}/ok` } })
    default:
      return new Response('thanks')
  }
}

function control(url: URL): Response {
  const [, question, host = ''] = url.pathname.split('/')
  if (question === 'received') return Response.json(received.get(host) ?? [])
  for (const release of held.get(host) ?? []) release()
  held.delete(host)
  return new Response()
}
