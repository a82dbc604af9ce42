/** Writes one JSON object per line to stderr; it never contains keys or a client's input. */
export type Log = (level: 'info' | 'warn' | 'error', msg: string, fields?: Record<string, string | number>) => void

const MAX_CHARS = 4_096

/** A line is at most `MAX_CHARS` characters long. */
export const logToStderr: Log = (level, msg, fields) => {
  process.stderr.write(`${JSON.stringify({ level, ts: new Date().toISOString(), msg, ...fields }).slice(0, MAX_CHARS)}\n`)
}
