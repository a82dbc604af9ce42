import { isKnown } from '../../domain/text/etag.ts'
import { tagOf } from '../answers/tagged-answer.ts'
import type { AppContext } from '../app-env.ts'
import { ownCookie } from './console-credential.ts'

const JSON_TYPE = /^application\/json\b/

/**
 * A page of the console looks again every few seconds, and mostly finds what it knows: it gets a tag with each answer, and 304 while nothing is new
 * (CS-26). Whoever shows a key instead of a cookie gets what the documents say, and a resource with a version keeps that as its tag.
 */
export async function tellOnlyNews(c: AppContext): Promise<void> {
  const { req, res } = c
  const isLook =
    req.method === 'GET' && res.status === 200 && !res.headers.has('etag') && JSON_TYPE.test(res.headers.get('content-type') ?? '')
  if (!isLook || req.raw.headers.has('authorization') || ownCookie(req.raw, 'session') === null) return
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
  // What is put in the place of an answer takes over its headers, unless there is none.
  c.res = undefined
  c.res = new Response(null, { status: 304, headers })
}
