import { z } from 'zod'
import { form } from '../forms.ts'
import { repeated } from '../list-query.ts'

/** Most labels of a resource (LBL-1). */
export const MAX_LABELS = 32
/** Most labels that one list may be filtered by (LBL-4). */
const MAX_FILTERS = 8

/** LBL-1. */
const LABEL_KEY = form(/^[A-Za-z0-9._/-]{1,63}$/, '1 to 63 letters, digits, ., _, / and -')
const LABEL_VALUE = form(/^[A-Za-z0-9._/-]{0,63}$/, 'at most 63 letters, digits, ., _, / and -')
/** LBL-4. */
const LABEL_FILTER = form(/^[A-Za-z0-9._/-]{1,63}(=[A-Za-z0-9._/-]{0,63})?$/, 'a label such as team=research, or a key such as team')

/** Labels in a request (LBL-1, LBL-2). */
export const labelRequestFields = {
  labels: z
    .record(z.string().regex(LABEL_KEY), z.string().regex(LABEL_VALUE))
    .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `want at most ${MAX_LABELS} labels`)
    .nullable()
    .optional()
    .meta({
      description: 'Keys and values by which lists are filtered. They replace all labels; null removes them.',
      propertyNames: { pattern: LABEL_KEY.source },
      maxProperties: MAX_LABELS,
      example: { team: 'research' },
    }),
}

/** Labels in a response (LBL-2). */
export const labelResponseFields = {
  labels: z.record(z.string(), z.string()).meta({ description: 'Keys and values, sorted by key.' }),
}

/** Filter of a list (LBL-4). */
export const labelQueryFields = {
  label: repeated(z.string().regex(LABEL_FILTER), MAX_FILTERS)
    .optional()
    .meta({
      description: 'Only pods with this label, `<key>=<value>`, or with this key; repeated: with all of them.',
      param: { name: 'label', in: 'query', style: 'form', explode: true },
      example: ['team=research'],
    }),
}
