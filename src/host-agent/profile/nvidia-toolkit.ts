import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { judgeVersion } from './versions.ts'

/** Programs of the toolkit that print its version; older packages have only the last. */
const PROGRAMS = ['nvidia-ctk', 'nvidia-container-cli'] as const
const ANSWER_MS = 10_000

type Ask = (program: string) => Promise<string>

/** Returns the version of the NVIDIA container toolkit of this machine; null when no program of it answers. */
export async function readToolkitVersion(ask: Ask = askProgram): Promise<string | null> {
  for (const program of PROGRAMS) {
    const found = /version:?\s+v?(\d+\.\d+\.\d+)/i.exec(await ask(program).catch(() => ''))?.[1]
    if (found !== undefined) return found
  }
  return null
}

async function askProgram(program: string): Promise<string> {
  return (await promisify(execFile)(program, ['--version'], { timeout: ANSWER_MS })).stdout
}

/**
 * Returns whether containers may have GPUs (HOST-90): with an older toolkit, variables of an image run code as the machine's root.
 * `problem` is a message for the operator, who may allow an old version with `allowOld`.
 */
export function judgeToolkit(version: string | null, allowOld: boolean): { offersGpus: boolean; problem: string | null } {
  const problem = judgeVersion('nvidiaToolkit', version)
  return { offersGpus: problem === null || allowOld, problem }
}
