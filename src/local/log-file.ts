import { createWriteStream, renameSync, statSync } from 'node:fs'
import { hasCode } from '../node/fail.ts'

const ROTATE_BYTES = 10 * 2 ** 20
/** Lines kept in memory, to be shown when a process ends unexpectedly. */
const TAIL_LINES = 20

export interface LogFile {
  path: string
  write(line: string): void
  tail(): readonly string[]
  close(): Promise<void>
}

/** Appends lines to a file, starting a fresh one when the old one has grown large; `echo` repeats them on the terminal. */
export function openLogFile(path: string, echo: boolean): LogFile {
  rotate(path)
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  const recent: string[] = []
  return {
    path,
    write(line) {
      stream.write(`${line}\n`)
      recent.push(line)
      if (recent.length > TAIL_LINES) recent.shift()
      if (echo) process.stdout.write(`${line}\n`)
    },
    tail: () => recent,
    close: () => new Promise((resolve) => stream.end(resolve)),
  }
}

function rotate(path: string): void {
  try {
    if (statSync(path).size > ROTATE_BYTES) renameSync(path, `${path}.1`)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
