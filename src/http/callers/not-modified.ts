import { isKnown } from '../../domain/text/etag.ts'
import { tagOf } from '../answers/tagged-answer.ts'
import type { AppContext } from '../app-env.ts'
import { ownCookie } from './console-credential.ts'

const JSON_TYPE = /^application\/json\b/

/**
 * Adds an ETag to JSON answers for pages of the console, and answers 304 while nothing has changed: the pages poll every few seconds
 * (SESSION-26). A caller with a key gets plain answers, and a resource with a version has that version as its ETag.
 */
export async function answerNotModified(c: AppContext): Promise<void> {
  const { req, res } = c
  const isPageRead =
    req.method === 'GET' && res.status === 200 && !res.headers.has('etag') && JSON_TYPE.test(res.headers.get('content-type') ?? '')
  if (!isPageRead || req.raw.headers.has('authorization') || ownCookie(req.raw, 'session') === null) return
  const body = await res.arrayBuffer()
  const tag = await tagOf(body)
  const headers = new Headers(res.headers)
  headers.set('ETag', tag)
  if (!isKnown(req.header('If-None-Match'), tag)) {
    c.res = new Response(body, { status: 200, headers })
    return
  }
  headers.delete('content-type')
  headers.delete('content-length')
  // Hono copies the headers of the previous response onto a new one unless `c.res` is undefined.
  c.res = undefined
  c.res = new Response(null, { status: 304, headers })
}
