import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Secrets by their kind, each a text that does not occur by chance. */
export type Canaries = ReadonlyMap<string, string>

export interface Hit {
  kind: string
  place: string
}

/** The canaries that occur in a text. */
export function hitsIn(canaries: Canaries, place: string, text: string): Hit[] {
  return [...canaries].filter(([, canary]) => text.includes(canary)).map(([kind]) => ({ kind, place }))
}

/** The canaries that occur in the bytes of files below a directory, and the number of files read. */
export function sweepFiles(canaries: Canaries, directory: string): { hits: Hit[]; files: number } {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const hits = files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name)
    // One character for each byte: canaries are ASCII, and may occur anywhere in a database.
    return hitsIn(canaries, path, readFileSync(path, 'latin1'))
  })
  return { hits, files: files.length }
}
