import { accessSync, constants, readdirSync } from 'node:fs'
import { makeDirDurably } from './durable-file.ts'
import { errorText, OperatorError } from './fail.ts'

/**
 * Creates a directory that only its owner may read, or checks that an existing one can be written. Returns whether it is fresh: just
 * created, or empty. `label` is the operator's name for it, such as "--state-dir". Throws an `OperatorError`.
 */
export function ensureDir(path: string, label: string): { fresh: boolean } {
  try {
    const made = makeDirDurably(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return { fresh: made || readdirSync(path).length === 0 }
  } catch (error) {
    throw new OperatorError(`${label} ${path} cannot be used: ${errorText(error)}; choose a directory that this user may write`)
  }
}
