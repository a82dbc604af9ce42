import { openRotatingLog, type RotatingLog } from '../node/rotating-log.ts'

export type LogFile = Omit<RotatingLog, 'dropped'>

/** A rotating log whose lines are repeated on the terminal where `echo` says so. */
export function openLogFile(path: string, echo: boolean): LogFile {
  const log = openRotatingLog(path)
  if (!echo) return log
  return {
    ...log,
    write(line) {
      log.write(line)
      process.stdout.write(`${line}\n`)
    },
  }
}
