import { describe } from 'vitest'
import type { ErrorView } from './support/endpoint.ts'
import { expect, scenario } from './support/scenario.ts'

/** Limit of `/purge-queue`, the smallest of all: calls in a slot of ten seconds. */
const PURGES_PER_SLOT = 2

describe('rates', () => {
  scenario(
    '[INV-1] LIM-1, API-7: calls beyond the rate of an operation are 429, JSON, with whole seconds to wait',
    {},
    async (endpoint) => {
      // Even on a slow machine these calls fall into few slots.
      const calls = Array.from({ length: 20 * PURGES_PER_SLOT }, () => endpoint.call<ErrorView>('POST', 'purge-queue'))
      const replies = await Promise.all(calls)
      const refused = replies.filter((reply) => reply.status === 429)
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 429]))
      expect(refused.length).toBeGreaterThan(replies.length / 2)
      for (const reply of refused) {
        expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/)
        expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        expect(reply.body).toMatchObject({ status: 429, title: expect.any(String), detail: expect.any(String) })
      }
      // Other operations have limits of their own.
      expect((await endpoint.call('GET', 'health')).status).toBe(200)
      await endpoint.run()
    },
  )
})
