import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PROJECT_ROOT } from '../../src/local/paths.ts'

// The peers are no dependencies of the project: who wants the comparison installs them, here or in a directory that PEERS_DIR names.
const DIRECTORY = resolve(process.env.PEERS_DIR || PROJECT_ROOT)
const { resolve: locate } = createRequire(join(DIRECTORY, 'package.json'))

export function hasPackage(name: string): boolean {
  try {
    locate(name)
    return true
  } catch {
    return false
  }
}

/** A package as its own types describe it; `T` names the part that is used. */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(locate(name)).href)) as T
}
