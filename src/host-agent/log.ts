import { redact } from './redact.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
/** Fields of a log line; undefined ones are left out. */
export type LogFields = Record<string, string | number | boolean | null | undefined | readonly string[]>

/** Longest line written, so that a pathological error text cannot flood the journal. */
const LINE_MAX_CHARS = 8_192

/** The log of the agent: one function per level. */
export type Log = {
  [level in LogLevel]: (msg: string, fields?: LogFields) => void
}

/** Writes one JSON object per line to stderr, with credentials redacted. Callers never pass environment values. */
export function createLog(minimum: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const threshold = LOG_LEVELS.indexOf(minimum)
  const at = (level: LogLevel) => (msg: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return
    const line = redact(JSON.stringify({ level, ts: new Date().toISOString(), msg, ...fields }))
    write(`${line.slice(0, LINE_MAX_CHARS)}\n`)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A log that discards everything, for tests and for parts that run without an agent. */
export function silentLog(): Log {
  return createLog('error', () => {})
}
