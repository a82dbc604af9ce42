import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hasCode } from './fail.ts'

/** Writes to a neighbour and renames it, so that a crash leaves the old file or the new one, never half of one. */
export function writeJsonFile(path: string, value: unknown): void {
  const draft = `${path}.draft`
  writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** The parsed file, or undefined when there is none. A file that is not JSON counts as none: it was never written by us. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}
