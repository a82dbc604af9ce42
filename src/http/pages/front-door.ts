import { accepts } from 'hono/accepts'
import type { AppContext } from '../app-env.ts'

const REFERENCE_PATH = '/docs'
/** References, so that they hold behind every name under which the plane is reached. */
const LINKS = {
  console: '/console',
  reference: REFERENCE_PATH,
  openapi: '/v2/openapi.json',
  operatorOpenapi: '/admin/v1/openapi.json',
  health: '/healthz',
}

/** `GET /` (PP-150): a browser is led to the reference, a program learns where the documents are. Nobody needs a key. */
export function frontDoor(c: AppContext): Response {
  // The same address has two answers, and a cache in between must know it.
  c.header('Vary', 'Accept')
  const type = accepts(c, { header: 'Accept', supports: ['application/json', 'text/html'], default: 'application/json' })
  return type === 'text/html' ? c.redirect(REFERENCE_PATH) : c.json({ name: 'podplane', links: LINKS })
}
