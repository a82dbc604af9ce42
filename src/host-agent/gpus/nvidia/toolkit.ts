import { judgeVersion } from '../../profile/versions.ts'
import { runTool } from '../run-tool.ts'
import type { ToolkitOptions, ToolkitVerdict } from '../vendor.ts'

/** Programs of the toolkit that print its version; older packages have only the last. */
const PROGRAMS = ['nvidia-ctk', 'nvidia-container-cli'] as const
const ANSWER_MS = 10_000
const NO_GPU_OFFERED = '; no GPU is offered (--allow-old-nvidia-toolkit)'

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
  const { stdout, error } = await runTool(program, ['--version'], ANSWER_MS)
  if (error !== null) throw error
  return stdout
}

/**
 * Returns whether containers may have GPUs (HOST-90): with an older toolkit, variables of an image run code as the machine's root.
 * `missing` is a message for the operator, who may allow an old version with `allowOld`.
 */
export function judgeToolkit(version: string | null, allowOld: boolean): ToolkitVerdict {
  const problem = judgeVersion('nvidiaToolkit', version)
  const offersGpus = problem === null || allowOld
  return { offersGpus, missing: offersGpus ? problem : `${problem}${NO_GPU_OFFERED}` }
}

/** Judges the toolkit of this machine. */
export async function judgeInstalledToolkit({ allowOldNvidiaToolkit }: ToolkitOptions): Promise<ToolkitVerdict> {
  return judgeToolkit(await readToolkitVersion(), allowOldNvidiaToolkit)
}
