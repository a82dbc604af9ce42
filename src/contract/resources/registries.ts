import { z } from 'zod'
import { NO_NUL, PLAIN_TEXT, ShortName } from '../fields.ts'

/** Bounds of what is sealed, characters: a password may be a whole key file in base64. */
const MAX_USERNAME_LENGTH = 1024
const MAX_PASSWORD_LENGTH = 16_384

/** All that is ever shown: user name and password are write-only (REG-1). */
export const Registry = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'Registry', description: 'A credential for private images.', example: { id: '5r9x2m7q4h1k8v', name: 'ghcr' } })
export type Registry = z.infer<typeof Registry>

export const CreateRegistryRequest = z
  .strictObject({
    name: ShortName,
    username: z.string().min(1).max(MAX_USERNAME_LENGTH).regex(PLAIN_TEXT).meta({ writeOnly: true }),
    password: z.string().min(1).max(MAX_PASSWORD_LENGTH).regex(NO_NUL).meta({ writeOnly: true, format: 'password' }),
  })
  .meta({ id: 'CreateRegistryRequest', example: { name: 'ghcr', username: 'octocat', password: '<token>' } })
export type CreateRegistryRequest = z.infer<typeof CreateRegistryRequest>

/** Whole: the number of credentials is bounded (PAG-5). */
export const ListRegistriesResponse = z
  .object({ registries: z.array(Registry) })
  .meta({ id: 'ListRegistriesResponse', example: { registries: [] } })
