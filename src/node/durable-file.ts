import { closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './fail.ts'

const PRIVATE_DIR_MODE = 0o700
const PRIVATE_FILE_MODE = 0o600

/** What a file system answers that cannot sync a directory, or does not let this user: then there is no more to be done. */
const NO_DIRECTORY_SYNC = ['EACCES', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM']

/**
 * Writes a file that survives a power cut from the moment that this resolves (DUR-1): into a neighbour, synced, renamed, and the directory
 * synced. Whenever the power goes, the old file or the new one is there, whole. The file is readable by its owner only. Throws what the
 * file system answers; then the old file stays and the neighbour is removed.
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

/** The same as `writeDurably` for callers that cannot wait, DUR-1: it blocks the process for as long as the disk takes. */
export function writeDurablySync(path: string, content: string | Uint8Array): void {
  replace(path, content, true)
  syncDirectorySync(dirname(path))
}

/**
 * Replaces a file whole, so that a crash of the process leaves the old one or the new one. A power cut may leave an empty one or none: only
 * for what is made anew without loss then. Throws what the file system answers.
 */
export function replaceFileSync(path: string, content: string | Uint8Array): void {
  replace(path, content, false)
}

/**
 * Makes a private directory and what is missing above it, each of which survives a power cut from then on (DUR-1). Returns whether it was
 * made just now; throws when something else has its name.
 */
export function makeDirDurably(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return false
  if (found !== undefined) throw new Error(`${path} is not a directory`)
  const parent = dirname(path)
  // One level at a time: the recursive mkdir of Node never returns where the system refuses new names, as in /proc.
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

/** Puts the names in a directory on disk: without it a power cut may take a new one away, or bring an old one back. */
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
    // A draft that was left behind keeps the mode that it had.
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
