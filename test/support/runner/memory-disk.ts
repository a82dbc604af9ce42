import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY_DISK = '/dev/shm'
/** A run of all Worker tests stores about 30 MB at a time; in containers with 64 MB of memory disk, the storage stays on the disk. */
const NEEDED_BYTES = 1024 ** 3

/**
 * Puts the storage of the Worker tests' runtimes in memory, where a commit waits for no disk: the data is discarded anyway, and each of
 * thousands of commits would wait milliseconds. The runtimes read its location from TMPDIR.
 * @returns the previous directory for temporary files, for tests of programs on real disks
 */
export function keepStorageInMemory(): string {
  const before = tmpdir()
  if (!hasRoom()) return before
  const directory = mkdtempSync(join(MEMORY_DISK, 'podplane-tests-'))
  process.env.TMPDIR = directory
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  return before
}

function hasRoom(): boolean {
  try {
    accessSync(MEMORY_DISK, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(MEMORY_DISK)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
