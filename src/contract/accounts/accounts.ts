import { z } from 'zod'
import { Name, Timestamp } from '../fields.ts'
import { form } from '../forms.ts'
import { Email } from './email.ts'

/** Largest quota: far above any use, so that a window never counts beyond exact integers. */
const MAX_QUOTA = 1_000_000_000
/** `<resource>:<level>`, jobs optionally bound to one endpoint (AUT-3). */
const SCOPE_FORM = form(
  /^((pods|clusters|serverless|templates|volumes|registries|account):(read|write)|(billing|organizations):read|jobs:(read|write)(@[A-Za-z0-9_-]+)?)$/,
  'a scope such as pods:read or jobs:write@<endpoint id>',
)

export const CreateUserRequest = z.strictObject({ email: Email }).meta({ id: 'CreateUserRequest', example: { email: 'ada@example.com' } })

export const User = z
  .object({ id: z.string(), email: z.string(), createdAt: Timestamp })
  .meta({ id: 'User', example: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com', createdAt: '2026-06-01T12:00:00Z' } })
export type User = z.infer<typeof User>

/** What a suspension or its end has done (PP-214). */
export const Suspension = z
  .object({
    userId: z.string(),
    suspendedAt: Timestamp.nullable().meta({ description: 'Null: the account works.' }),
    endpoints: z.number().int().meta({ description: 'Endpoints that were told.' }),
    pods: z.number().int().meta({ description: 'Pods that were stopped, or started again.' }),
    failed: z.array(z.string()).meta({ description: 'What could not be told or changed; the same call again tries that again.' }),
  })
  .meta({
    id: 'Suspension',
    example: { userId: '7q1w3e4k8h2m9x', suspendedAt: '2026-06-01T12:00:00Z', endpoints: 2, pods: 1, failed: [] },
  })
export type Suspension = z.infer<typeof Suspension>

export const UserQuery = z.object({ email: z.string().optional().meta({ description: 'Only the user with this address.' }) })
export const ListUsersResponse = z.object({ users: z.array(User) }).meta({ id: 'ListUsersResponse', example: { users: [] } })

export const KeyPermission = z.enum(['ALL', 'READ_ONLY', 'RESTRICTED']).meta({ id: 'KeyPermission', example: 'ALL' })

export const CreateKeyRequest = z
  .strictObject({
    name: Name,
    permission: KeyPermission.optional().meta({ default: 'ALL' }),
    scopes: z
      .array(z.string().regex(SCOPE_FORM))
      .optional()
      .meta({ description: 'Scopes of a RESTRICTED key, such as `jobs:write@<endpoint_id>`.' }),
    expiresAt: z.iso.datetime({ offset: true }).optional().meta({ description: 'The key is refused from then on. RFC 3339.' }),
  })
  .meta({ id: 'CreateKeyRequest', example: { name: 'ci', permission: 'RESTRICTED', scopes: ['serverless:read', 'jobs:write'] } })
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>

export const CreatedKey = z
  .object({ id: z.string(), name: z.string(), key: z.string().meta({ description: 'Shown this once; only a hash is stored.' }) })
  .meta({ id: 'CreatedKey', example: { id: 'k3y1d00000', name: 'ci', key: 'pp_k3y1d00000_<secret>' } })

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    permission: KeyPermission,
    scopes: z.array(z.string()),
    createdAt: Timestamp,
    expiresAt: Timestamp.nullable(),
    revokedAt: Timestamp.nullable(),
    lastUsedAt: Timestamp.nullable(),
  })
  .meta({
    id: 'Key',
    example: {
      id: 'k3y1d00000',
      name: 'ci',
      permission: 'ALL',
      scopes: [],
      createdAt: '2026-06-01T12:00:00Z',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    },
  })
export type Key = z.infer<typeof Key>

export const ListKeysResponse = z.object({ keys: z.array(Key) }).meta({ id: 'ListKeysResponse', example: { keys: [] } })

const Quota = z.number().int().min(1).max(MAX_QUOTA)
export const Quotas = z
  .strictObject({ minute: Quota, hour: Quota, day: Quota, exempt: z.boolean() })
  .meta({ id: 'Quotas', description: 'REST requests per window (RATE-1).', example: { minute: 60, hour: 3000, day: 50000, exempt: false } })
