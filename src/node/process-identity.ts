import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process id alone can be recycled; together with the start time it names one process for ever. */
export interface ProcessIdentity {
  pid: number
  startTime: string
}

/** The start time of a live process in the system's own unit, or undefined when it has ended (a zombie counts as ended). */
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

/** Field 22 of `/proc/<pid>/stat`. The command name may hold spaces and brackets, so fields count from its last bracket. */
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

/** Whether this very process is still alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return readStartTime(identity.pid) === identity.startTime
}

/** Identifies a process that was just started; undefined when it has already ended. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startTime = readStartTime(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}
