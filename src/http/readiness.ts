import { readFaults } from '../services/plane/readiness.ts'
import type { AppContext } from './app-env.ts'

/** `GET /readyz` (PLANE-2), without a key, for load balancers and supervisors. The answer contains only the ids of failed checks. */
export async function readiness(c: AppContext): Promise<Response> {
  const faults = await readFaults(c.env, Date.now())
  if (faults.length === 0) return c.json({ status: 'ready' })
  return c.json({ status: 'not ready', failed: faults.map(({ id }) => id) }, 503)
}
