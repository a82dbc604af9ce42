import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** Exit status of `flock` when another process has the lock. */
const TAKEN = 1

/**
 * Takes a kernel lock on a file until this process ends in any way; undefined when another process has it, also one in another container.
 * The helper locks the open file description that it shares with this process, so the lock outlives the helper. On a system without `flock`
 * nothing is locked.
 */
export function lockFile(path: string): { release(): void } | undefined {
  const fd = openSync(path, 'a', 0o600)
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === TAKEN) {
    closeSync(fd)
    return undefined
  }
  return { release: () => closeSync(fd) }
}
