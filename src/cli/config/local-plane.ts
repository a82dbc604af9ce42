import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isOnThisMachine } from '../../client/agent-command.ts'
import type { Io } from '../core/io.ts'
import type { LocalPlane } from './target.ts'

/**
 * The plane that `npm start` runs here: its `demo.json` in `PODPLANE_DATA`, or in `.podplane` of this directory or one above it. One that another
 * user has put there is passed over, and so is one that names another machine: it is for what runs on this one.
 */
export function findLocalPlane({ env, cwd }: Pick<Io, 'env' | 'cwd'>): LocalPlane | undefined {
  if (env.PODPLANE_DATA) return readLocalPlane(join(resolve(cwd, env.PODPLANE_DATA), 'demo.json'))
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const found = readLocalPlane(join(directory, '.podplane', 'demo.json'))
    if (found !== undefined || directory === dirname(directory)) return found
  }
}

function readLocalPlane(path: string): LocalPlane | undefined {
  try {
    if (process.getuid !== undefined && statSync(path).uid !== process.getuid()) return undefined
    const { url, apiKey, endpointId, operatorKey } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    if (![url, apiKey, endpointId, operatorKey].every((value) => typeof value === 'string')) return undefined
    const plane = { url, apiKey, endpointId, operatorKey } as LocalPlane
    return URL.canParse(plane.url) && isOnThisMachine(plane.url) ? plane : undefined
  } catch {
    // None is there, or it is being written: no plane is ready for use.
    return undefined
  }
}
