import { execFileSync } from 'node:child_process'
import { hasCode } from '../node/fail.ts'

/** Shells through which npm runs a script; some of them exec the script, whose parent is then npm. */
const SHELL = /(^|\/)-?(sh|dash|bash|ash|zsh|ksh)$/

/**
 * Returns the pid of the npm that runs this script: its parent, or the parent of the shell in between. That shell outlives a killed npm, so
 * watching the parent alone would not detect that.
 */
export function npmProcess(parentPid: number): number {
  try {
    const [pid, command = ''] = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(parentPid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
    return SHELL.test(command) && Number(pid) > 1 ? Number(pid) : parentPid
  } catch {
    // The system has no `ps`.
    return parentPid
  }
}

/** Whether a process exists, whichever user owns it. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
