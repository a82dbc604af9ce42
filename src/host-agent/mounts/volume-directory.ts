import { chmod, chown, mkdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../node/backoff.ts'
import { errorText, hasCode } from '../../node/fail.ts'
import { StartError } from '../runtime.ts'

/** Minimum free space for a start, bytes. */
const FREE_MIN_BYTES = 2 ** 20
/** Time limit; a slower file system counts as one without its server. */
const ANSWER_WITHIN_MS = 20_000
/** Any user of a container may write; access to the directory as a whole depends on the directories above it. */
const VOLUME_MODE = 0o777

/** The check in progress, by root. */
const underWay = new Map<string, Promise<unknown>>()

/** A directory that contains volumes, one sub-directory each. */
export interface VolumePlace {
  root: string
  /** Name of the place in error messages. */
  label: string
  /** User and group of this machine that are root inside containers; null: root. */
  owner: { uid: number; gid: number } | null
}

/**
 * Creates the directory of a volume below the root of a place and returns its path. Throws a `StartError` when the root is missing, full,
 * not writable or does not answer in time.
 */
export async function provideDirectory(place: VolumePlace, id: string, withinMs = ANSWER_WITHIN_MS): Promise<string> {
  const { root, label } = place
  const enough = new AbortController()
  const tooLong = sleep(withinMs, enough.signal).then(() => {
    throw new StartError(`${label} of this host does not answer`, root)
  })
  try {
    return await Promise.race([inTurn(root, enough.signal, () => makeDirectory(place, id)), tooLong])
  } finally {
    enough.abort()
    tooLong.catch(() => {})
  }
}

/**
 * Runs one call per root at a time: each call that hangs, as on a network file system without its server, blocks one of the few threads
 * that Node has for files and DNS for good, and without those the agent loses the plane.
 */
async function inTurn(root: string, given: AbortSignal, step: () => Promise<string>): Promise<string> {
  for (let before = underWay.get(root); before !== undefined; before = underWay.get(root)) await before.catch(() => {})
  if (given.aborted) throw new StartError('given up')
  const own = step().finally(() => underWay.delete(root))
  underWay.set(root, own)
  return await own
}

async function makeDirectory({ root, label, owner }: VolumePlace, id: string): Promise<string> {
  const path = join(root, id)
  try {
    await checkRoot(root, label)
    const made = await mkdir(path).then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'EEXIST')) return false
        throw error
      },
    )
    // Restores the permissions that the umask of this process removed; later changes of the mode are the tenant's.
    if (made) await chmod(path, VOLUME_MODE)
    if (made && owner !== null) await chown(path, owner.uid, owner.gid)
    return path
  } catch (error) {
    if (error instanceof StartError) throw error
    if (hasCode(error, 'ENOSPC')) throw full(root, label)
    throw new StartError(`${label} of this host cannot be used`, `${root}: ${errorText(error)}`)
  }
}

async function checkRoot(root: string, label: string): Promise<void> {
  const found = await stat(root).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) throw new StartError(`${label} is missing on this host`, root)
    throw error
  })
  if (!found.isDirectory()) throw new StartError(`${label} of this host is not a directory`, root)
  const { bavail, bsize, blocks } = await statfs(root)
  // A bucket that is mounted as a file system reports no size.
  if (blocks > 0 && bavail * bsize < FREE_MIN_BYTES) throw full(root, label)
}

function full(root: string, label: string): StartError {
  return new StartError(`no space is left on this host: the file system of ${label} is full`, root)
}
