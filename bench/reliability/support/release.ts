import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHECKOUT, type Lab } from './lab.ts'

/** Commit of the previous release, whose database has three migrations. */
const PREVIOUS = 'e56d68b'

/**
 * Returns the directory of the previous release, ready to run. It is built from the history of this checkout and from the package registry,
 * which takes half a minute, and stays in the system's temporary directory for later runs.
 */
export function previousRelease(lab: Lab): string {
  const directory = join(tmpdir(), `podplane-release-${PREVIOUS}`)
  if (existsSync(directory)) return directory
  lab.say(`making the release ${PREVIOUS}`)
  const partial = `${directory}.${process.pid}`
  mkdirSync(partial)
  try {
    const archive = execFileSync('git', ['archive', PREVIOUS], { cwd: CHECKOUT, maxBuffer: 2 ** 28 })
    execFileSync('tar', ['x'], { cwd: partial, input: archive })
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: partial, stdio: ['ignore', 'ignore', 'pipe'] })
    renameSync(partial, directory)
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
  return directory
}
