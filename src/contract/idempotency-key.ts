import { z } from 'zod'
import { form } from './forms.ts'

/** Longest `Idempotency-Key`, characters (POD-22). */
const MAX_IDEMPOTENCY_KEY_LENGTH = 128

const VISIBLE_ASCII = form(/^[\x21-\x7e]+$/, 'visible ASCII characters without spaces')

/** Headers of every create (POD-22, IDEM-2). */
export const CreateHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_LENGTH)
    .regex(VISIBLE_ASCII)
    .optional()
    .meta({
      description: 'A repeat of the same request within 24 hours returns the first result, with the present env.',
      example: '5f0c9d6e-create',
      param: { name: 'Idempotency-Key', in: 'header' },
    }),
})
