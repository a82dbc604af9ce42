import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorText } from '../../node/fail.ts'
import { usage } from './failure.ts'
import type { Io } from './io.ts'

/** Parses the JSON of a flag: a literal, `@file`, or `-` for stdin. Throws a usage error if it is no JSON. */
export async function readJsonArgument(io: Pick<Io, 'stdin' | 'cwd'>, text: string, flag: string): Promise<unknown> {
  const source = text === '-' ? await readAll(io.stdin) : text.startsWith('@') ? readFile(resolve(io.cwd, text.slice(1)), flag) : text
  try {
    return JSON.parse(source)
  } catch {
    throw usage(`${flag}: it must be JSON, @file or - for stdin`)
  }
}

/** Parses a request body in the same way; it must be an object. Throws a usage error otherwise. */
export async function readBody(io: Pick<Io, 'stdin' | 'cwd'>, text: string | undefined): Promise<Record<string, unknown>> {
  if (text === undefined) return {}
  const value = await readJsonArgument(io, text, '--body')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usage('--body: it must be a JSON object')
  return value as Record<string, unknown>
}

/** Reads a stream to its end and returns its UTF-8 text. */
export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}

/** Parses `NAME=value` pairs; a value may contain any character. */
export function readPairs(pairs: readonly string[], flag: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usage(`${flag} ${pair}: it must be NAME=value`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** Drops undefined fields. */
export function given<T extends Record<string, unknown>>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}

function readFile(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw usage(`${flag}: ${path} cannot be read: ${errorText(error)}`)
  }
}
