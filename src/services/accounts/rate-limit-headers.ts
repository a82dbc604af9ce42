import { type Item, serializeList } from 'structured-headers'
import type { RateVerdict } from '../../domain/rate-limit.ts'

/** The header fields of a response that describe the windows. */
export interface RateLimitHeaders {
  RateLimit: string
  'RateLimit-Policy': string
}

/** Returns the two header fields, lists of RFC 9651 with members in the order minute, hour, day (RATE-2). */
export function rateLimitHeaders({ windows }: Pick<RateVerdict, 'windows'>): RateLimitHeaders {
  return {
    RateLimit: serializeList(windows.map(({ name, remaining, resetSeconds }) => member(name, { r: remaining, t: resetSeconds }))),
    'RateLimit-Policy': serializeList(windows.map(({ name, quota, windowSeconds }) => member(name, { q: quota, w: windowSeconds }))),
  }
}

function member(name: string, parameters: Record<string, number>): Item {
  return [name, new Map(Object.entries(parameters))]
}
