import { keyPattern } from '../contract/key-kinds.ts'
import { errorText } from './error-text.ts'

/** Severity of a log line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }
/** Longest text of one field, characters: a log line is for reading, not for storing payloads. */
const MAX_TEXT = 2000

/** Patterns of secrets that must not reach a log, in any field. */
const SECRETS: readonly [RegExp, string][] = [
  [keyPattern(1), '$1_[redacted]'],
  [/\bBearer\s+[^\s"',;]+/gi, 'Bearer [redacted]'],
  [/\beyJ[\w-]+\.[\w-]*(?:\.[\w-]*)?/g, '[redacted jwt]'],
  [/\b(api_key=)[^&\s"']+/gi, '$1[redacted]'],
]

let minimum: LogLevel = 'info'

/** Sets the lowest level that this isolate writes. */
export function setLogLevel(level: LogLevel): void {
  minimum = level
}

/** Whether an event of that level would be written; check it before collecting fields on a hot path. */
export function logs(level: LogLevel): boolean {
  return ORDER[level] >= ORDER[minimum]
}

/** Writes one JSON line with redacted fields. Undefined fields are left out. */
export function logEvent(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  if (!logs(level)) return
  const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, shorten)
  console[level](redact(line))
}

/** Runs work whose failure only costs a log line, with these fields and the error. Returns whether it succeeded. */
export async function tryLogged(
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>>,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    logEvent(level, message, { ...fields, error })
    return false
  }
}

/** Returns a text without keys, bearer tokens, JWTs and `api_key` query values. */
export function redact(text: string): string {
  return SECRETS.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text)
}

function shorten(_key: string, value: unknown): unknown {
  if (value instanceof Error) return shorten('', errorText(value))
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
}
