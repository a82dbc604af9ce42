import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuiltinName } from '../../host-protocol/builtin-images.ts'
import { boundOutput } from './bound-output.ts'
import { echo } from './echo.ts'
import { runIdle } from './idle.ts'
import { runWorker } from './worker-client.ts'
import { readWorkerSettings } from './worker-settings.ts'

const OOM_SCORE = 500

/**
 * Entry of a built-in program. `exitFile` gets the exit code as the process ends, so that an agent that is not its
 * parent (it was restarted meanwhile) still learns the code. No exit file is left when the process is killed.
 */
export async function runBuiltin(name: string | undefined, exitFile: string | undefined): Promise<void> {
  if (exitFile !== undefined) {
    process.on('exit', (exitCode) => writeExit(exitFile, exitCode))
    boundOutput(join(dirname(exitFile), 'output.log'))
  }
  takeOomScore()
  // One plain line, because the last line of output becomes the reason that the user reads.
  process.on('uncaughtException', (error) => {
    console.error(error.stack)
    console.error(`${error.name}: ${error.message}`)
    process.exit(1)
  })
  await programs[name as BuiltinName]()
}

/** When memory ends, this ends before the agent, whose protection it was born with (HOST-93). */
function takeOomScore(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE))
  } catch {
    // No kernel of that kind.
  }
}

function writeExit(exitFile: string, exitCode: number): void {
  try {
    writeFileSync(exitFile, JSON.stringify({ exitCode }))
  } catch {
    // The agent removed the workload's files already, so nobody is going to ask.
  }
}

const programs: Record<BuiltinName, () => Promise<void>> = {
  echo: () => runWorker(readWorkerSettings(process.env), echo),
  // On demand: its input schema doubles the start-up time, and an echo worker does without.
  probe: async () => runWorker(readWorkerSettings(process.env), (await import('./probe.ts')).probe),
  idle: runIdle,
}
