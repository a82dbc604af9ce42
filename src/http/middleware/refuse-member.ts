import type { MiddlewareHandler } from 'hono'
import { Problem } from '../../contract/problems.ts'
import type { AppEnv } from '../app-env.ts'

/**
 * Answers 400 for a member that the contract refuses with 400, before the schema would refuse it with 422 (CLU-7). Use it after
 * `strictJson`.
 */
export function refuseMember(name: string, detail: string): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const body: unknown = await c.req.json()
    if (typeof body === 'object' && body !== null && Object.hasOwn(body, name)) throw new Problem('badRequest', { detail })
    await next()
  }
}
