import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A small file system in memory; mounting needs root. */
export async function makeTmpfs(sizeMb: number): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), 'podplane-small-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', path])
  return path
}

/** A small ext4 file system in a file; mounting needs root. It reserves some blocks, as disks do. */
export async function makeSmallDisk(sizeMb: number): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), 'podplane-disk-'))
  const image = `${path}.img`
  await run('truncate', ['-s', `${sizeMb}M`, image])
  await run('mkfs.ext4', ['-q', '-F', image])
  await run('mount', ['-o', 'loop', image, path])
  // The mounted file is freed with its last user.
  rmSync(image)
  return path
}

/** Removes a directory in which file systems may be mounted. */
export async function removeMounted(path: string): Promise<void> {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point === path || point.startsWith(`${path}/`))
  for (const point of mounted.toReversed()) await run('umount', ['--lazy', point])
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
