import type { Context } from 'hono'
import { isKnown } from '../../domain/text/etag.ts'
import type { AppEnv } from '../app-env.ts'

const ETAG_HEADER = {
  ETag: { description: 'Tag of this response, for `If-None-Match`.', schema: { type: 'string' as const, example: '"9f2c…"' } },
}

/** Responses of a route whose answers carry an ETag (HIS-9), for the OpenAPI document. */
export function taggedAnswers<Answer extends { description: string; headers?: object }>(answer: Answer) {
  const headers = { ...answer.headers, ...ETAG_HEADER }
  return {
    200: { ...answer, headers },
    304: { description: 'The response has not changed since the one that `If-None-Match` names.', headers },
  }
}

/** Returns the ETag of a body: the first 12 bytes of its SHA-256, in quotes. */
export async function tagOf(body: BufferSource): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', body)
  return `"${Array.from(new Uint8Array(digest, 0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** Answers with an ETag of the body, or with 304 if `If-None-Match` names that tag (HIS-9). */
export async function answerTagged<Body extends object>(c: Context<AppEnv>, body: Body) {
  const tag = await tagOf(new TextEncoder().encode(JSON.stringify(body)))
  return isKnown(c.req.header('If-None-Match'), tag) ? c.body(null, 304, { ETag: tag }) : c.json(body, 200, { ETag: tag })
}
