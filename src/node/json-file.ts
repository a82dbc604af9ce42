import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { z } from 'zod'
import { errorText, hasCode, OperatorError } from './fail.ts'

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

/**
 * For files that hold something irreplaceable: undefined only when there is none. One that is there and cannot be read or
 * understood is an error that ends in `advice`, because a new one in its place would void what depends on it.
 */
export function readKeptFile<T>(path: string, schema: z.ZodType<T>, advice: string): T | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new OperatorError(`${path} cannot be read: ${errorText(error)}`)
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new OperatorError(`${path} is damaged; ${advice}`)
  }
}
