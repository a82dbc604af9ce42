import { z } from 'zod'
import { PLAIN_TEXT, Timestamp } from '../fields.ts'
import { PageQuery, Pagination } from '../pagination.ts'

const MAX_ID_LENGTH = 128
const Id = z.string().min(1).max(MAX_ID_LENGTH).regex(PLAIN_TEXT)
const Moment = z.iso.datetime({ offset: true })

const State = z.record(z.string(), z.unknown()).nullable().meta({
  description:
    'Without secrets: a variable `env.<NAME>` is a keyed hash. Large members are `{bytes, digest}`. Null: the resource did not exist.',
})

const PREVIEW = {
  id: 'mfz0k3x2a8f3kq0w1zt',
  at: '2026-01-01T00:00:00.125Z',
  actor: { kind: 'KEY' as const, userId: '8c1m4p7s0v2y5b', credentialId: 'k3m8q1z7x2' },
  action: 'endpoints.update',
  resource: { kind: 'endpoint', id: '4k8h2m9x7q1w3e' },
  requestId: '2f0a6a58-4f4e-4d5b-9a43-0c6f3a7b1c52',
  before: { workers: { min: 0, max: 3, idleTimeoutSeconds: 5 } },
  after: { workers: { min: 0, max: 10, idleTimeoutSeconds: 5 } },
}

const entry = {
  id: z.string(),
  at: z.string().meta({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds precision.' }),
  actor: z.object({
    kind: z.enum(['KEY', 'SESSION', 'POD', 'OPERATOR', 'HOST', 'PLATFORM']),
    userId: z.string().nullable(),
    credentialId: z.string().nullable().meta({ description: 'Id of the key, session or pod; never a secret.' }),
  }),
  action: z.string().meta({ description: 'Such as `pods.create`.' }),
  resource: z.object({ kind: z.string(), id: z.string() }),
  requestId: z.string().nullable().meta({ description: 'The `X-Request-ID` of the request; null for a change without a request.' }),
  before: State,
  after: State,
}

export const AuditEntry = z.object(entry).meta({
  id: 'AuditEntry',
  description: 'One change. An update shows the changed members; a deletion shows none.',
  example: PREVIEW,
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const OperatorAuditEntry = z
  .object({
    ...entry,
    accountId: z.string().nullable().meta({ description: 'Id of the account that owns the resource; null for resources of the operator.' }),
  })
  .meta({ id: 'OperatorAuditEntry', example: { ...PREVIEW, accountId: '1t5w8z3c6f9j2m' } })
export type OperatorAuditEntry = z.infer<typeof OperatorAuditEntry>

export const ListAuditQuery = PageQuery.extend({
  resource: Id.optional().meta({ description: 'Only changes of the resource with this id.' }),
  actor: Id.optional().meta({ description: 'Only changes by this user, or with this key, session or pod.' }),
  action: Id.optional().meta({ description: 'Only changes of this kind, such as `pods.create`.' }),
  from: Moment.optional().meta({ description: 'The earliest time, RFC 3339.' }),
  to: Moment.optional().meta({ description: 'Exclusive end of the range, RFC 3339.' }),
})
export type ListAuditQuery = z.infer<typeof ListAuditQuery>

export const OperatorAuditQuery = ListAuditQuery.extend({
  account: Id.optional().meta({ description: 'Only changes in the account with this id.' }),
})
export type OperatorAuditQuery = z.infer<typeof OperatorAuditQuery>

export const ListAuditResponse = z
  .object({ entries: z.array(AuditEntry), pagination: Pagination })
  .meta({ id: 'ListAuditResponse', example: { entries: [PREVIEW], pagination: { nextCursor: null, hasNextPage: false } } })
export type ListAuditResponse = z.infer<typeof ListAuditResponse>

export const OperatorAuditResponse = z.object({ entries: z.array(OperatorAuditEntry), pagination: Pagination }).meta({
  id: 'OperatorAuditResponse',
  example: { entries: [{ ...PREVIEW, accountId: null }], pagination: { nextCursor: null, hasNextPage: false } },
})
export type OperatorAuditResponse = z.infer<typeof OperatorAuditResponse>

export const AuditStateQuery = z.object({
  resource: Id.meta({ description: 'Id of a pod, an endpoint or a template, including deleted ones.' }),
  at: Moment.meta({ description: 'The moment, RFC 3339.' }),
})
export type AuditStateQuery = z.infer<typeof AuditStateQuery>

export const AuditStateResponse = z
  .object({
    resource: z.object({ kind: z.enum(['pod', 'endpoint', 'template']), id: z.string() }),
    at: Timestamp,
    state: State,
    isComplete: z
      .boolean()
      .meta({ description: 'False when earlier changes are already deleted: members that have not changed since are then missing.' }),
  })
  .meta({
    id: 'AuditState',
    example: {
      resource: { kind: 'template', id: '4k8h2m9x7q1w3e' },
      at: '2026-01-01T00:00:00Z',
      state: { name: 'pytorch' },
      isComplete: true,
    },
  })
export type AuditStateResponse = z.infer<typeof AuditStateResponse>
