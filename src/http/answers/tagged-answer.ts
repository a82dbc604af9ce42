import type { Context } from 'hono'
import { isKnown } from '../../domain/text/etag.ts'
import type { AppEnv } from '../app-env.ts'

/** The headers of an answer that says what it is (HIS-9), for its route. */
export const ETAG_HEADER = {
  ETag: { description: 'Of this answer, for `If-None-Match`.', schema: { type: 'string' as const, example: '"9f2c…"' } },
}

/** The document of a 304. */
export const NOT_MODIFIED = { description: 'The answer is the one that `If-None-Match` names.' }

/** The tag of a body: another one has another tag. */
export async function tagOf(body: BufferSource): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', body)
  return `"${Array.from(new Uint8Array(digest, 0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** An answer under the tag of its own text, or a 304 to whom has it already (HIS-9). */
export async function answerTagged<Body extends object>(c: Context<AppEnv>, body: Body) {
  const tag = await tagOf(new TextEncoder().encode(JSON.stringify(body)))
  return isKnown(c.req.header('If-None-Match'), tag) ? c.body(null, 304, { ETag: tag }) : c.json(body, 200, { ETag: tag })
}
