import { readReadiness } from '../services/plane/plane.ts'
import type { AppContext } from './app-env.ts'

/** `GET /readyz` (PLN-2): for whoever sends traffic to planes; nobody needs a key. */
export async function readiness(c: AppContext): Promise<Response> {
  const isReady = await readReadiness(c.env, Date.now())
  return c.json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503)
}
