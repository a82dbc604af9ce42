import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './fail.ts'

const PRIVATE_DIR_MODE = 0o700
const PRIVATE_FILE_MODE = 0o600

/** Error codes of file systems that cannot sync a directory, or refuse it to this user; these errors are ignored. */
const NO_DIRECTORY_SYNC = ['EACCES', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM']

/**
 * Writes a file that survives a power failure once this resolves (DUR-1): writes a draft beside it, syncs and renames it, and syncs the
 * directory. At any moment either the old or the new file is complete on disk. Only its owner can read the file. On an error it throws, the
 * old file stays and the draft is removed.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const draft = draftOf(path)
  const file = await open(draft, 'w', PRIVATE_FILE_MODE)
  try {
    await file.chmod(PRIVATE_FILE_MODE)
    await file.writeFile(content)
    await file.sync()
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await syncDirectory(dirname(path))
}

/** Synchronous form of `writeDurably` (DUR-1): it blocks the process for as long as the disk takes. */
export function writeDurablySync(path: string, content: string | Uint8Array): void {
  replace(path, content, true)
  syncDirectorySync(dirname(path))
}

/**
 * Replaces a file atomically: a crash of the process leaves the old file or the new one. A power failure may leave an empty file or none,
 * so use it only for data that can be recreated without loss. Throws errors of the file system.
 */
export function replaceFileSync(path: string, content: string | Uint8Array): void {
  replace(path, content, false)
}

/**
 * Creates a private directory and its missing parents, all of which survive a power failure once this returns (DUR-1). Returns whether it
 * was created by this call; throws when something else has its name.
 */
export function makeDirDurably(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return false
  if (found !== undefined) throw new Error(`${path} is not a directory`)
  const parent = dirname(path)
  // One level at a time: Node's recursive mkdir never returns where the system refuses new names, as in /proc.
  makeDirDurably(parent)
  try {
    mkdirSync(path, { mode: PRIVATE_DIR_MODE })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
  syncDirectorySync(parent)
  return true
}

/** Writes the entries of a directory to disk: without it a power failure may remove a new name or restore an old one. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  } catch (error) {
    throwUnlessUnsupported(error)
  }
}

function syncDirectorySync(path: string): void {
  try {
    const directory = openSync(path, 'r')
    try {
      fsyncSync(directory)
    } finally {
      closeSync(directory)
    }
  } catch (error) {
    throwUnlessUnsupported(error)
  }
}

function throwUnlessUnsupported(error: unknown): void {
  if (!NO_DIRECTORY_SYNC.some((code) => hasCode(error, code))) throw error
}

function replace(path: string, content: string | Uint8Array, sync: boolean): void {
  const draft = draftOf(path)
  const file = openSync(draft, 'w', PRIVATE_FILE_MODE)
  try {
    // An existing draft would otherwise retain its mode.
    fchmodSync(file, PRIVATE_FILE_MODE)
    writeFileSync(file, content)
    if (sync) fsyncSync(file)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

function draftOf(path: string): string {
  return `${path}.draft`
}
