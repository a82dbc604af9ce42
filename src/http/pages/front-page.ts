import { accepts } from 'hono/accepts'
import type { AppContext } from '../app-env.ts'

const REFERENCE_PATH = '/docs'
/** Relative references, so that they are valid under every host name of the plane. */
const LINKS = {
  console: '/console',
  reference: REFERENCE_PATH,
  openapi: '/v2/openapi.json',
  operatorOpenapi: '/admin/v1/openapi.json',
  health: '/healthz',
}

/** `GET /` (PLANE-20): redirects a browser to the reference and answers a program with the places of the documents. It needs no key. */
export function frontPage(c: AppContext): Response {
  // The same address has two answers, and a cache in between must know it.
  c.header('Vary', 'Accept')
  const type = accepts(c, { header: 'Accept', supports: ['application/json', 'text/html'], default: 'application/json' })
  return type === 'text/html' ? c.redirect(REFERENCE_PATH) : c.json({ name: 'podplane', links: LINKS })
}
