import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { judgeVersion } from './versions.ts'

/** Programs of the toolkit that name its version; older packages have only the last. */
const PROGRAMS = ['nvidia-ctk', 'nvidia-container-cli'] as const
const ANSWER_MS = 10_000

type Ask = (program: string) => Promise<string>

/** What the NVIDIA container toolkit of this machine calls its version; null: none answers. */
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
 * Whether containers may be given GPUs (HOST-90): with an older toolkit an image's variables run as the machine's root. `problem` is for the
 * operator, who may allow it all the same.
 */
export function judgeToolkit(version: string | null, allowOld: boolean): { offersGpus: boolean; problem: string | null } {
  const problem = judgeVersion('nvidiaToolkit', version)
  return { offersGpus: problem === null || allowOld, problem }
}
