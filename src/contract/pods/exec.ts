import { z } from 'zod'
import { queryFlag, queryInteger } from '../query-values.ts'

/** Largest width or height of a terminal (NET-7). */
const MAX_SIDE = 4_096
const MAX_WORD_CHARS = 8_192
const MAX_WORDS = 256

const Word = z.string().max(MAX_WORD_CHARS)

/** Query of a command in a pod (NET-6). */
export const ExecQuery = z.object({
  command: z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(Word).min(1).max(MAX_WORDS))
    .optional()
    .meta({
      description: 'One argument of the command; repeated for each one. Default: a login shell.',
      param: { name: 'command', in: 'query', style: 'form', explode: true },
      example: ['nvidia-smi', '-L'],
    }),
  tty: queryFlag().meta({
    description: 'Allocate a terminal; stdout and stderr are then one stream.',
    param: { name: 'tty', in: 'query' },
  }),
  rows: queryInteger(1, MAX_SIDE, 24).meta({ description: 'Lines of the terminal.', param: { name: 'rows', in: 'query' } }),
  cols: queryInteger(1, MAX_SIDE, 80).meta({ description: 'Columns of the terminal.', param: { name: 'cols', in: 'query' } }),
  term: z
    .string()
    .regex(/^[A-Za-z0-9][\w.+-]{0,63}$/)
    .default('xterm-256color')
    .meta({ description: '`TERM` of the command.', param: { name: 'term', in: 'query' } }),
  flow: queryFlag().meta({
    description:
      'Flow control for large amounts of data: both sides grant credit on channel 5 (four bytes, big-endian), 256 KiB at the start.',
    param: { name: 'flow', in: 'query' },
  }),
})
export type ExecQuery = z.infer<typeof ExecQuery>
