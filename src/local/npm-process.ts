import { execFileSync } from 'node:child_process'
import { hasCode } from '../node/fail.ts'

/** Shells through which npm runs a script; some of them replace themselves by the script, and npm is its parent then. */
const SHELL = /(^|\/)-?(sh|dash|bash|ash|zsh|ksh)$/

/**
 * The process of the npm that runs this script: its parent, or the parent of the shell between them. That shell outlives an npm that was
 * killed, so watching the parent alone would not tell.
 */
export function npmProcess(parentPid: number): number {
  try {
    const [pid, command = ''] = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(parentPid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
    return SHELL.test(command) && Number(pid) > 1 ? Number(pid) : parentPid
  } catch {
    // A system without `ps`.
    return parentPid
  }
}

/** Whether a process is there, whoever it belongs to. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
