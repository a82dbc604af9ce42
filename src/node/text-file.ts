import { readFileSync } from 'node:fs'

/** Returns the contents of a text file; undefined when it cannot be read. For files of the system that a machine may lack. */
export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
