import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usage } from '../core/failure.ts'

/** Flags of the command that runs a plane. */
export interface PlaneFlags {
  data?: string
  port?: string
  agent: boolean
  simulateGpus?: string
}

const PROGRAM = 'src/local/start.ts'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const SIGNALED = 128

/**
 * Runs the same as `npm start` without npm (PLANE-15), for use in services. Passes signals on, and resolves with the exit code of the plane
 * once all of it has stopped. Throws a usage error where this program does not belong to an installation.
 */
export function runPlane({ data, port, agent, simulateGpus }: PlaneFlags, env: NodeJS.ProcessEnv): Promise<number> {
  const root = installationOf(dirname(fileURLToPath(import.meta.url)))
  const args = [...(agent ? [] : ['--no-agent']), ...(simulateGpus === undefined ? [] : ['--simulate-gpus', simulateGpus])]
  const node = join(root, 'node_modules/.bin/node')
  const child = spawn(existsSync(node) ? node : process.execPath, [join(root, PROGRAM), ...args], {
    stdio: 'inherit',
    env: { ...env, ...(data !== undefined && { PODPLANE_DATA: data }), ...(port !== undefined && { PORT: port }) },
    // A terminal signals its whole process group, and the plane treats a second signal as a demand to stop at once.
    detached: true,
  })
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? SIGNALED + (signal === null ? 0 : constants.signals[signal])))
  })
}

/** Directory of the installation that contains this file. */
function installationOf(directory: string): string {
  if (existsSync(join(directory, PROGRAM))) return directory
  const parent = dirname(directory)
  if (parent !== directory) return installationOf(parent)
  throw usage(
    'plane run needs a full installation, and this is only the file of the command line',
    'clone the project, run npm ci in it, and use its dist/podplane.mjs',
  )
}
