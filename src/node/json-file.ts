import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { replaceFileSync, writeDurablySync } from './durable-file.ts'
import { errorText, hasCode, OperatorError } from './fail.ts'

/** Writes a value so that it survives crashes and power cuts (DUR-1). */
export function writeJsonFile(path: string, value: unknown): void {
  writeDurablySync(path, textOf(value))
}

/** Writes a value that survives a crash of this process and may be gone after a power cut: for what says nothing then, or is made anew. */
export function writeLosableJsonFile(path: string, value: unknown): void {
  replaceFileSync(path, textOf(value))
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

/** The parsed file, or undefined when there is none. A file that is not JSON counts as none: for what is made anew without loss. */
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
 * understood is an error that ends in `advice` (DUR-5): what is lost with it, what goes on, what to do. A new one in its place would void
 * what depends on it.
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
