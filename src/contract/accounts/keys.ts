import { z } from 'zod'
import { KEY_DEFAULTS, KEY_OVERLAP_SECONDS } from '../defaults.ts'
import { PERMISSIONS } from '../enums.ts'
import { Name, Timestamp } from '../fields.ts'
import { form } from '../forms.ts'

/** Form of a scope: `<resource>:<level>`, for jobs optionally bound to one endpoint (AUT-3). */
const SCOPE_FORM = form(
  /^((pods|clusters|serverless|templates|volumes|registries|account):(read|write)|(billing|organizations):read|jobs:(read|write)(@[A-Za-z0-9_-]+)?)$/,
  'a scope such as pods:read or jobs:write@<endpoint id>',
)
/** 30 days. */
const MAX_OVERLAP_SECONDS = 2_592_000

export const KeyPermission = z.enum(PERMISSIONS).meta({ id: 'KeyPermission', example: 'ALL' })

/** Scopes in the form of AUT-3. */
export const KeyScopes = z.array(z.string().regex(SCOPE_FORM))

export const CreateKeyRequest = z
  .strictObject({
    name: Name,
    permission: KeyPermission.optional().meta({ default: KEY_DEFAULTS.permission }),
    scopes: KeyScopes.optional().meta({ description: 'Scopes of a RESTRICTED key, such as `jobs:write@<endpoint_id>`.' }),
    expiresAt: z.iso.datetime({ offset: true }).optional().meta({ description: 'The key is refused from this time. RFC 3339.' }),
  })
  .meta({ id: 'CreateKeyRequest', example: { name: 'ci', permission: 'RESTRICTED', scopes: ['serverless:read', 'jobs:write'] } })
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>

export const CreatedKey = z
  .object({ id: z.string(), name: z.string(), key: z.string().meta({ description: 'Shown only once; only a hash is stored.' }) })
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

const KEY = {
  id: 'k3y1d00000',
  prefix: 'pp_k3y1d00000',
  name: 'ci',
  userId: '7q1w3e4k8h2m9x',
  permission: 'ALL',
  scopes: [],
  createdAt: '2026-06-01T12:00:00Z',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
}

/** A key as the members of its account see it. */
export const AccountKey = Key.extend({
  prefix: z.string().meta({ description: 'The first characters of the key; the plane does not store the rest.' }),
  userId: z.string().meta({ description: 'Id of the creator. The key is refused when this user leaves the account.' }),
  replacedBy: z.string().nullable().meta({ description: 'Id of the key that replaces it; this key is valid until `expiresAt`.' }),
}).meta({
  id: 'AccountKey',
  example: KEY,
})
export type AccountKey = z.infer<typeof AccountKey>

export const ListAccountKeysResponse = z
  .object({ keys: z.array(AccountKey) })
  .meta({ id: 'ListAccountKeysResponse', example: { keys: [] } })

export const CreatedAccountKey = AccountKey.extend({
  key: z
    .string()
    .nullable()
    .meta({ description: 'Shown only once; only a hash is stored. Null in the response to a repeated `Idempotency-Key`.' }),
}).meta({ id: 'CreatedAccountKey', example: { ...KEY, key: 'pp_k3y1d00000_<random>' } })
export type CreatedAccountKey = z.infer<typeof CreatedAccountKey>

export const RotateKeyRequest = z
  .strictObject({
    overlapSeconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .optional()
      .meta({ default: KEY_OVERLAP_SECONDS, description: 'For how long the previous key is still valid.' }),
  })
  .meta({ id: 'RotateKeyRequest', example: { overlapSeconds: 3600 } })
export type RotateKeyRequest = z.infer<typeof RotateKeyRequest>
