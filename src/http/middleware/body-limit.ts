import type { Next } from 'hono'
import { MAX_REST_BODY_BYTES } from '../../contract/limits.ts'
import { Problem } from '../../contract/problems.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import type { AppContext } from '../app-env.ts'

/** Refuses a large body before anything else is looked at (RATE-6, ERR-6). A body of undeclared length is read up to the cap first. */
export async function limitBody(c: AppContext, next: Next): Promise<void> {
  const declared = announcedBytes(c.req.raw.headers)
  if (declared !== null) {
    if (declared > MAX_REST_BODY_BYTES) throw new Problem('payloadTooLarge')
  } else if (c.req.raw.body) {
    const body = await readCapped(c.req.raw.body)
    c.req.raw = new Request(c.req.raw, { body })
  }
  await next()
}

async function readCapped(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of stream) {
    size += piece.byteLength
    if (size > MAX_REST_BODY_BYTES) throw new Problem('payloadTooLarge')
    pieces.push(piece)
  }
  const body = new Uint8Array(size)
  let offset = 0
  for (const piece of pieces) {
    body.set(piece, offset)
    offset += piece.byteLength
  }
  return body
}
