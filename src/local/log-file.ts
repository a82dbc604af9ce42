import { openRotatingLog, type RotatingLog } from '../node/rotating-log.ts'

/** The log of one program of `npm start`. */
export type LogFile = Omit<RotatingLog, 'dropped'>

/** Opens a rotating log; with `echo` its lines are also printed on the terminal. */
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
