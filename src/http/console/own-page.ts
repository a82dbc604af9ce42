import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import type { AppContext } from '../app-env.ts'
import { crossSiteFault } from '../callers/console-credential.ts'

/** Lets in requests of the plane's own pages, with a session or without: no other site signs somebody in or out (CS-5). */
export async function requireOwnPage(c: AppContext, next: Next): Promise<void> {
  const fault = crossSiteFault(c.req.raw)
  if (fault !== null) throw new Problem('accessDenied', { detail: fault })
  await next()
}
