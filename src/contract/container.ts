import { z } from 'zod'
import { ENV_NAME, NO_NUL, PLAIN_TEXT, PORT, wholeNumber } from './fields.ts'

/** Longest image reference that hosts take. */
export const MAX_IMAGE_LENGTH = 1024
const Words = z.array(z.string().regex(NO_NUL))

/** The container configuration of a request (section "Container configuration" of the contract, CON-1 to CON-7): nothing required. */
export const containerRequestFields = {
  args: z.string().regex(NO_NUL).optional().meta({
    description: 'Command in stored form: a shell string, or a JSON object with `entrypoint` and/or `cmd`. Empty clears.',
  }),
  cmd: Words.optional().meta({ description: 'Arguments of the entrypoint, in exec form. Empty clears.' }),
  entrypoint: Words.optional().meta({ description: "Overrides the image's entrypoint, in exec form. Empty clears." }),
  disk: wholeNumber(1).optional().meta({ description: 'Container disk, GB; wiped on restart.' }),
  env: z
    .record(z.string().regex(ENV_NAME), z.string().regex(NO_NUL))
    .optional()
    .meta({
      description: 'Environment variables.',
      propertyNames: { pattern: ENV_NAME.source },
    }),
  image: z.string().max(MAX_IMAGE_LENGTH).regex(PLAIN_TEXT).optional().meta({ description: 'Container image reference.' }),
  ports: z.array(z.string().regex(PORT)).optional().meta({ description: 'Exposed ports, each `<port>/http` or `<port>/tcp`.' }),
  registry: z
    .string()
    .regex(PLAIN_TEXT)
    .nullable()
    .optional()
    .meta({ description: 'Id of a registry credential; null or empty for none.' }),
}

/** The container configuration of a response: always whole (CON-5). */
export const containerResponseFields = {
  args: z.string().meta({ description: 'Command in stored form.' }),
  cmd: z.array(z.string()).meta({ description: 'Arguments of the entrypoint.' }),
  entrypoint: z.array(z.string()).meta({ description: "Overrides the image's entrypoint." }),
  disk: wholeNumber(1).meta({ description: 'Container disk, GB.' }),
  env: z.record(z.string(), z.string()).meta({ description: 'Environment variables.' }),
  image: z.string().meta({ description: 'Container image reference.' }),
  ports: z.array(z.string()).meta({ description: 'Exposed ports.' }),
  registry: z.string().nullable().meta({ description: 'Id of a registry credential, or null.' }),
}
