import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuiltinName } from '../../host-protocol/builtin-images.ts'
import { dropRefusedOutput } from '../../node/file-output.ts'
import { setOomScore } from '../machine/oom.ts'
import { boundOutput } from './bound-output.ts'
import { echo } from './echo.ts'
import { runWorker } from './worker-client.ts'
import { readWorkerSettings } from './worker-settings.ts'

const OOM_SCORE = 500

/**
 * Entry point of a built-in program. The process writes its exit code into `exitFile` at the end, for an agent that is not its parent
 * because it was restarted. A killed process leaves no exit file.
 */
export async function runBuiltin(name: string | undefined, exitFile: string | undefined): Promise<void> {
  dropRefusedOutput()
  if (exitFile !== undefined) {
    process.on('exit', (exitCode) => writeExit(exitFile, exitCode))
    boundOutput(join(dirname(exitFile), 'output.log'))
  }
  // It inherited the score of the protected agent, and must be ended before it.
  setOomScore(OOM_SCORE)
  // The last line of output becomes the reason that the user reads, so it is one plain line.
  process.on('uncaughtException', (error) => {
    console.error(error.stack)
    console.error(`${error.name}: ${error.message}`)
    process.exit(1)
  })
  await programs[name as BuiltinName]()
}

function writeExit(exitFile: string, exitCode: number): void {
  try {
    writeFileSync(exitFile, JSON.stringify({ exitCode }))
  } catch {
    // The agent has removed the workload's files already, so it does not need the code.
  }
}

const programs: Record<BuiltinName, () => Promise<void>> = {
  echo: () => runWorker(readWorkerSettings(process.env), echo),
  // Imported on demand: the input schema of `probe` doubles the start-up time, and an echo worker does not need it.
  probe: async () => runWorker(readWorkerSettings(process.env), (await import('./probe.ts')).probe),
  idle: runIdle,
}

const KEEP_ALIVE_MS = 60_000

/** `builtin/idle`: the smallest pod; runs until SIGTERM and opens no connection. */
async function runIdle(): Promise<void> {
  const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  // A reader of this line may send a signal at once, so the signal handlers are installed before.
  console.log('idle: running until SIGTERM')
  // A pending signal listener alone does not keep the process alive.
  const timer = setInterval(() => {}, KEEP_ALIVE_MS)
  await ended
  clearInterval(timer)
  console.log('idle: stopped')
  process.exit(0)
}
