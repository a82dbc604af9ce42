import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// Peers and autocannon are not dependencies of the project: install them for a measurement, here or in the directory that PEERS_DIR names.
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

/** Imports a package; `T` declares the used part of its types. */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(locate(name)).href)) as T
}
