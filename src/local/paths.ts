import { join } from 'node:path'

/** The checkout, whatever directory the command was started from. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..')
