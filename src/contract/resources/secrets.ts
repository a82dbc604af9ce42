import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { LINES_TEXT, NO_NUL, PLAIN_TEXT, Timestamp } from '../fields.ts'
import { form } from '../forms.ts'

/** A value has fewer bytes than this (ACC-5). */
const VALUE_BYTES = 16_777_216
const MAX_DESCRIPTION_BYTES = 65_535
const MAX_NAME_LENGTH = 191
/**
 * Largest body, bytes. JSON escapes make a string longer than its bytes; twice the bytes is enough for text with line breaks and quotes
 * (SECRET-2).
 */
export const MAX_SECRET_BODY_BYTES = 2 * VALUE_BYTES + 2 * MAX_DESCRIPTION_BYTES + 1_024

const NAME_FORM = form(/^[A-Za-z_][A-Za-z0-9_.\-/]*$/, 'letters, digits, _, ., - and /, with a letter or _ first')
const RESERVED = /^RUNPOD/i
export const VALUE_FORM = `must be under ${VALUE_BYTES} bytes of UTF-8`
/** Aborts further checks of a string: one error about it is enough. */
const NO_FURTHER = { abort: true }

/** Number of UTF-8 bytes of a string. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

const SecretName = z
  .string()
  .min(1, NO_FURTHER)
  .max(MAX_NAME_LENGTH, NO_FURTHER)
  .regex(NAME_FORM)
  .refine((name) => !RESERVED.test(name), 'must not start with RUNPOD')
  .meta({ description: 'Named in an `env` as `{{ RUNPOD_SECRET_<name> }}`. It never changes.', example: 'DB_PASSWORD' })
const SecretValue = z
  .string()
  // A string has at least as many bytes as characters, so a far too long one need not be encoded.
  .refine((text) => text.length < VALUE_BYTES && utf8Bytes(text) < VALUE_BYTES, { error: VALUE_FORM, ...NO_FURTHER })
  .regex(NO_NUL)
  .refine((text) => text.isWellFormed(), 'has half a surrogate pair, which is no text')
  .meta({ writeOnly: true, format: 'password', description: `Under ${VALUE_BYTES} bytes of UTF-8, and never returned.` })
const SecretDescription = z
  .string()
  .refine(
    (text) => text.length <= MAX_DESCRIPTION_BYTES && utf8Bytes(text) <= MAX_DESCRIPTION_BYTES,
    `must be at most ${MAX_DESCRIPTION_BYTES} bytes of UTF-8`,
  )
  .regex(LINES_TEXT)
  .meta({ description: `At most ${MAX_DESCRIPTION_BYTES} bytes of UTF-8; empty for none.` })

export const Secret = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    createdAt: Timestamp,
    valueLastUpdatedAt: Timestamp.nullable().meta({ description: 'When the value was last changed; null before that.' }),
  })
  .meta({
    id: 'Secret',
    description: 'A named value for the environment of pods and workers. The value is never shown.',
    example: { id: '5r9x2m7q4h1k8v', name: 'DB_PASSWORD', description: null, createdAt: '2026-01-01T00:00:00Z', valueLastUpdatedAt: null },
  })
export type Secret = z.infer<typeof Secret>

export const SecretOrChangePlan = orChangePlan('SecretOrChangePlan', Secret)

export const CreateSecretRequest = z
  .strictObject({ name: SecretName, value: SecretValue, description: SecretDescription.optional() })
  .meta({ id: 'CreateSecretRequest', example: { name: 'DB_PASSWORD', value: '<password>', description: 'of the orders database' } })
export type CreateSecretRequest = z.infer<typeof CreateSecretRequest>

export const UpdateSecretRequest = z
  .strictObject({ value: SecretValue.optional(), description: SecretDescription.optional() })
  .refine((body) => Object.keys(body).length > 0, { error: 'minProperties: got 0, want 1' })
  .meta({ id: 'UpdateSecretRequest', minProperties: 1, example: { value: '<password>' } })
export type UpdateSecretRequest = z.infer<typeof UpdateSecretRequest>

/** One page without a cursor: the number of secrets is bounded (PAG-5). */
export const ListSecretsResponse = z.object({ secrets: z.array(Secret) }).meta({ id: 'ListSecretsResponse', example: { secrets: [] } })

export const ListSecretsQuery = z.object({
  name: z
    .string()
    .regex(PLAIN_TEXT)
    .optional()
    .meta({ description: 'Only the secret of this name.', param: { name: 'name', in: 'query' }, example: 'DB_PASSWORD' }),
})
