import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHECKOUT, type Lab } from './lab.ts'

/** A release of before: with data of its own, and three migrations. */
const FORMER = 'e56d68b'

/**
 * The directory of the former release, ready to run. It is made out of the history of this checkout and of the package registry, which takes
 * half a minute, and stays in the temporary directory of the system for the next run.
 */
export function formerRelease(lab: Lab): string {
  const directory = join(tmpdir(), `podplane-release-${FORMER}`)
  if (existsSync(directory)) return directory
  lab.say(`making the release ${FORMER}`)
  const partial = `${directory}.${process.pid}`
  mkdirSync(partial)
  try {
    const archive = execFileSync('git', ['archive', FORMER], { cwd: CHECKOUT, maxBuffer: 2 ** 28 })
    execFileSync('tar', ['x'], { cwd: partial, input: archive })
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: partial, stdio: ['ignore', 'ignore', 'pipe'] })
    renameSync(partial, directory)
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
  return directory
}
