import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorText, OperatorError } from './fail.ts'

const PRIVATE_DIR_MODE = 0o700

/**
 * Makes a directory that only its owner may read, or checks that an existing one can be written. Returns whether it is
 * fresh: made just now, or empty. `label` is how the operator named it, such as "--state-dir".
 */
export function ensureDir(path: string, label: string): { fresh: boolean } {
  try {
    const made = makeDir(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return { fresh: made || readdirSync(path).length === 0 }
  } catch (error) {
    throw new OperatorError(`${label} ${path} cannot be used: ${errorText(error)}; choose a directory that this user may write`)
  }
}

// One level at a time: the recursive mkdir of Node never returns where the system refuses new names, as in /proc.
function makeDir(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return false
  if (found !== undefined) throw new Error('it is not a directory')
  const parent = dirname(path)
  if (!existsSync(parent)) makeDir(parent)
  mkdirSync(path, { mode: PRIVATE_DIR_MODE })
  return true
}
