import type { Next } from 'hono'
import { MAX_REST_BODY_BYTES } from '../../contract/limits.ts'
import { Problem } from '../../contract/problems.ts'
import { announcedBytes } from '../../domain/text/body-length.ts'
import type { AppContext } from '../app-env.ts'

/** Paths of secrets, whose bodies may be large: their routes have their own cap, behind the key check (ACC-5). */
const HAS_OWN_CAP = /^\/v2\/account\/secrets(\/[^/]+)?$/

/** Refuses a large body before any other check (RATE-6, ERR-6). A body of unknown length is read up to the cap first. */
export async function limitBody(c: AppContext, next: Next): Promise<void> {
  if (HAS_OWN_CAP.test(c.req.path)) return next()
  const declared = announcedBytes(c.req.raw.headers)
  if (declared !== null) {
    if (declared > MAX_REST_BODY_BYTES) throw new Problem('payloadTooLarge')
  } else if (c.req.raw.body) {
    const body = await readCapped(c.req.raw.body, MAX_REST_BODY_BYTES)
    if (body === null) throw new Problem('payloadTooLarge')
    c.req.raw = new Request(c.req.raw, { body })
  }
  await next()
}

/** Reads a stream; returns null, and stops reading, once there are more than `maxBytes`. */
export async function readCapped(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of stream) {
    size += piece.byteLength
    if (size > maxBytes) return null
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
