import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY_DISK = '/dev/shm'
/** A run of every Worker test leaves some 30 MB there at a time; where containers are given 64 MB, theirs stays on the disk. */
const NEEDED_BYTES = 1024 ** 3

/**
 * Puts the storage of the Worker tests' runtimes where a commit waits for no disk: what they store is thrown away anyway, and each of
 * thousands of commits would wait milliseconds. It is named by TMPDIR, which the runtimes read.
 *
 * @returns the directory for temporary files as it was, for tests of programs that real disks serve
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
