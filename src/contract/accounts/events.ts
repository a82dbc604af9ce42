import { z } from 'zod'
import { Pagination } from '../pagination.ts'
import { AuditEntry, ListAuditQuery } from './audit.ts'

const EXAMPLE = {
  id: 'mfz0k3x2a8f3kq0w1zt',
  at: '2026-01-01T00:00:00.125Z',
  actor: { kind: 'KEY' as const, userId: '8c1m4p7s0v2y5b', credentialId: 'k3m8q1z7x2' },
  action: 'endpoints.update',
  targets: [{ kind: 'endpoint', id: '4k8h2m9x7q1w3e' }],
  message: 'An API key updated endpoint 4k8h2m9x7q1w3e: workers',
}

/** AUD-22: a row of the audit log as a sentence, without the states before and after. */
export const AccountEvent = AuditEntry.pick({ id: true, at: true, actor: true, action: true })
  .extend({
    targets: z.array(z.object({ kind: z.string(), id: z.string() })).meta({ description: 'The resource of the event.' }),
    message: z.string().meta({ description: 'One sentence, for people; `action` is for programs.' }),
  })
  .meta({ id: 'AccountEvent', example: EXAMPLE })
export type AccountEvent = z.infer<typeof AccountEvent>

export const ListEventsQuery = ListAuditQuery
export type ListEventsQuery = z.infer<typeof ListEventsQuery>

export const ListEventsResponse = z
  .object({ events: z.array(AccountEvent), pagination: Pagination })
  .meta({ id: 'ListEventsResponse', example: { events: [EXAMPLE], pagination: { nextCursor: null, hasNextPage: false } } })
export type ListEventsResponse = z.infer<typeof ListEventsResponse>
