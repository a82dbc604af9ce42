import { z } from 'zod'
import { ENV_NAME, NO_NUL, PLAIN_TEXT, PORT, wholeNumber } from '../fields.ts'
import { IMAGE_FORM, isImageReference, MAX_IMAGE_LENGTH } from '../image-reference.ts'

/** Aborts further checks of a string: one error about it is enough. */
const NO_FURTHER = { abort: true }
/** An image reference that a host can pull (CON-20). */
export const Image = z
  .string()
  .min(1, NO_FURTHER)
  .max(MAX_IMAGE_LENGTH, NO_FURTHER)
  .refine(isImageReference, IMAGE_FORM)
  .meta({ description: 'Container image reference, `domain/name[:tag][@digest]`.' })
/** Like `Image`, or empty for none. */
const ImageOrNone = z
  .string()
  .max(MAX_IMAGE_LENGTH, NO_FURTHER)
  .refine((text) => text === '' || isImageReference(text), IMAGE_FORM)
  .meta({ description: 'Container image reference, `domain/name[:tag][@digest]`.' })
const Words = z.array(z.string().regex(NO_NUL))

/**
 * The container configuration of a request (section "Container configuration" of the contract, CON-1 to CON-7): all members are optional.
 */
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
  image: ImageOrNone.optional(),
  ports: z.array(z.string().regex(PORT)).optional().meta({ description: 'Exposed ports, each `<port>/http` or `<port>/tcp`.' }),
  registry: z
    .string()
    .regex(PLAIN_TEXT)
    .nullable()
    .optional()
    .meta({ description: 'Id of a registry credential; null or empty for none.' }),
}

/** The container configuration of a response: all members are present (CON-5). */
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
