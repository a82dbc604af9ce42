import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { replaceFileSync, writeDurablySync } from './durable-file.ts'
import { errorText, hasCode, OperatorError } from './fail.ts'

/** Writes a value so that it survives crashes and power failures (DUR-1). */
export function writeJsonFile(path: string, value: unknown): void {
  writeDurablySync(path, textOf(value))
}

/**
 * Writes a value that survives a crash of this process but may be lost in a power failure: for data that is meaningless then, or can be
 * recreated.
 */
export function writeLosableJsonFile(path: string, value: unknown): void {
  replaceFileSync(path, textOf(value))
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

/** Returns the value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the parsed file; undefined when there is none or it is not JSON. For data that can be recreated without loss. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Reads a file with irreplaceable contents; undefined only when there is none. Throws an `OperatorError` when it cannot be read, and one
 * that ends in `advice` when it is damaged (DUR-5): the consequences and the next step. A new file in its place would invalidate everything
 * that depends on it.
 */
export function readIrreplaceableFile<T>(path: string, schema: z.ZodType<T>, advice: string): T | undefined {
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
