import { z } from 'zod'
import { Name, NO_NUL, PLAIN_TEXT } from '../fields.ts'
import { REGISTRY_HOST, REGISTRY_HOST_FORM } from '../registry-host.ts'

/** Bounds of the sealed fields, characters: a password may be a whole key file in base64. */
const MAX_USERNAME_LENGTH = 1024
const MAX_PASSWORD_LENGTH = 16_384
const MAX_HOST_LENGTH = 255

/** All readable members: user name and password are write-only (REG-1). */
export const Registry = z
  .object({
    id: z.string(),
    name: z.string(),
    host: z.string().optional().meta({ description: 'The registry of the credential; omitted while unknown.', example: 'ghcr.io' }),
  })
  .meta({ id: 'Registry', description: 'A credential for private images.', example: { id: '5r9x2m7q4h1k8v', name: 'ghcr' } })
export type Registry = z.infer<typeof Registry>

export const CreateRegistryRequest = z
  .strictObject({
    name: Name,
    username: z.string().min(1).max(MAX_USERNAME_LENGTH).regex(PLAIN_TEXT).meta({ writeOnly: true }),
    host: z
      .string()
      .max(MAX_HOST_LENGTH)
      .refine((text) => REGISTRY_HOST.test(text), REGISTRY_HOST_FORM)
      .optional()
      .meta({
        description: 'The registry of the credential; if omitted: that of the first image that uses it.',
        example: 'ghcr.io',
      }),
    password: z.string().min(1).max(MAX_PASSWORD_LENGTH).regex(NO_NUL).meta({ writeOnly: true, format: 'password' }),
  })
  .meta({ id: 'CreateRegistryRequest', example: { name: 'ghcr', username: 'octocat', password: '<token>', host: 'ghcr.io' } })
export type CreateRegistryRequest = z.infer<typeof CreateRegistryRequest>

/** One page without a cursor: the number of credentials is bounded (PAG-5). */
export const ListRegistriesResponse = z
  .object({ registries: z.array(Registry) })
  .meta({ id: 'ListRegistriesResponse', example: { registries: [] } })
