import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isOnThisMachine } from '../../client/agent-command.ts'
import type { Io } from '../core/io.ts'
import type { LocalPlane } from './target.ts'

/**
 * Local plane that `npm start` runs: `demo.json` in `PODPLANE_DATA`, or in `.podplane` of this directory or of the nearest parent. A file
 * of another user, or with an address on another machine, is ignored.
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
    // The file is missing or is being written: no local plane is ready.
    return undefined
  }
}
