import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process id can be reused; together with the start time it identifies one process for ever. */
export interface ProcessIdentity {
  pid: number
  startTime: string
}

/** Returns the start time of a live process in the system's own unit; undefined when it has ended (a zombie counts as ended). */
export function readStartTime(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxStartTime(pid) : psStartTime(pid)
}

function linuxStartTime(pid: number): string | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * Returns field 22 of `/proc/<pid>/stat`. The command name may contain spaces and parentheses, so fields are counted from the last
 * parenthesis.
 */
export function parseProcStat(stat: string): string | undefined {
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? undefined : fields[18]
}

function psStartTime(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return text === '' || text.startsWith('Z') ? undefined : text.slice(text.indexOf(' ')).trim()
  } catch {
    return undefined
  }
}

/** Whether exactly this process is still alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return readStartTime(identity.pid) === identity.startTime
}

/** Identifies a process that was just started; undefined when it has already ended. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startTime = readStartTime(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}
