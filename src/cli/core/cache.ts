import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from './io.ts'

const PRIVATE_DIR_MODE = 0o700
const PRIVATE_FILE_MODE = 0o600

/** Path of a cache file, which may be deleted at any time (XDG). */
export function cachePath({ env, home }: Pick<Io, 'env' | 'home'>, name: string): string {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'podplane', `${name}.json`)
}

/** Cached value; undefined if the file cannot be read. */
export function readCache(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Writes a cache file that only its owner can read. Throws the error of the file system if that fails. */
export function writeCache(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_DIR_MODE })
  writeFileSync(path, JSON.stringify(value), { mode: PRIVATE_FILE_MODE })
}
