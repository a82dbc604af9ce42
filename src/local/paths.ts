import { join } from 'node:path'

/** The root of the checkout, independent of the current directory. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..')
