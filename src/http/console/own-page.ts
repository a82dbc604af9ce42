import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import type { AppContext } from '../app-env.ts'
import { crossSiteFault } from '../callers/console-credential.ts'

/**
 * Admits only requests from the plane's own pages, with or without a session, so that no other site signs a user in or out (SESSION-5).
 * Throws 403 for all others.
 */
export async function requireOwnPage(c: AppContext, next: Next): Promise<void> {
  const fault = crossSiteFault(c.req.raw)
  if (fault !== null) throw new Problem('accessDenied', { detail: fault })
  await next()
}
