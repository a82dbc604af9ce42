import { z } from 'zod'
import { PLAIN_TEXT } from '../fields.ts'
import { form } from '../forms.ts'

const MAX_EMAIL_LENGTH = 254
const EMAIL_FORM = form(/^[^\s@]+@[^\s@]+$/, 'an e-mail address')

/** The e-mail address of a user; it is case-insensitive. */
export const Email = z.string().max(MAX_EMAIL_LENGTH).regex(EMAIL_FORM).regex(PLAIN_TEXT)
