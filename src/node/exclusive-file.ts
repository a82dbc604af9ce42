import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** What `flock` exits with when another process has the lock. */
const TAKEN = 1

/**
 * Takes a lock of the kernel on a file until this process ends, however it ends; undefined when another process holds it,
 * also one of another container. The helper locks the open file, which it shares with this process, so the lock outlives it.
 * On a system without `flock` nothing is locked.
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
