import { chmod, mkdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText, hasCode } from '../fail.ts'
import { StartError } from '../runtime.ts'

/** Less than this is no room to start with, bytes. */
const FREE_MIN_BYTES = 2 ** 20
/** Any user of a container may write; who may look into the directory at all is decided by the ones above it. */
const VOLUME_MODE = 0o777

/** Makes the directory of a volume below `root`, which must be there. Throws a `StartError` when it is missing, full or not to be written. */
export async function provideDirectory(root: string, id: string, label: string): Promise<string> {
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
    // What the mask of this process took away; later the mode is the tenant's.
    if (made) await chmod(path, VOLUME_MODE)
    return path
  } catch (error) {
    if (error instanceof StartError) throw error
    if (hasCode(error, 'ENOSPC')) throw new StartError(fullText(root, label))
    throw new StartError(`${label} ${root} of this host cannot be used: ${errorText(error)}`)
  }
}

async function checkRoot(root: string, label: string): Promise<void> {
  const found = await stat(root).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) throw new StartError(`${label} ${root} is missing on this host`)
    throw error
  })
  if (!found.isDirectory()) throw new StartError(`${label} ${root} of this host is not a directory`)
  const { bavail, bsize, blocks } = await statfs(root)
  // A bucket that is mounted as a file system has no size.
  if (blocks > 0 && bavail * bsize < FREE_MIN_BYTES) throw new StartError(fullText(root, label))
}

function fullText(root: string, label: string): string {
  return `no space is left on this host: the file system of ${label} ${root} is full`
}
