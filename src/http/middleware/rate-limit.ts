import type { Next } from 'hono'
import { serializeList } from 'structured-headers'
import { Problem } from '../../contract/problems.ts'
import type { RateVerdict, RateWindowState } from '../../domain/rate-limit.ts'
import { spendRequest } from '../../services/accounts/rate-limit.ts'
import type { AppContext } from '../app-env.ts'

/** Spends one of the acting user's requests and says so on the response, whatever its status (RATE-1 to RATE-4). */
export async function limitRate(c: AppContext, next: Next): Promise<void> {
  const verdict = await spendRequest(c.env, c.var.principal, Date.now())
  if (!verdict) return next()
  const headers = rateLimitHeaders(verdict)
  if (!verdict.allowed) {
    throw new Problem('rateLimited', {
      detail: `rate limit exceeded for the ${verdict.exceeded} window`,
      headers: { ...headers, 'Retry-After': String(verdict.retryAfterSeconds) },
    })
  }
  await next()
  for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value)
}

/** The two header fields, members in the order minute, hour, day (RATE-2). */
export function rateLimitHeaders({ windows }: Pick<RateVerdict, 'windows'>): { RateLimit: string; 'RateLimit-Policy': string } {
  return {
    RateLimit: members(windows, ({ remaining, resetSeconds }) => ({ r: remaining, t: resetSeconds })),
    'RateLimit-Policy': members(windows, ({ quota, windowSeconds }) => ({ q: quota, w: windowSeconds })),
  }
}

function members(windows: readonly RateWindowState[], parameters: (window: RateWindowState) => Record<string, number>): string {
  return serializeList(windows.map((window) => [window.name, new Map(Object.entries(parameters(window)))]))
}
