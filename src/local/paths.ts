import { fileURLToPath } from 'node:url'

/** The checkout, whatever directory the command was started from. */
export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url))
