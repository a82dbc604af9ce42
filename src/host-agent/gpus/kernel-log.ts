import { runTool } from './run-tool.ts'

const TIMEOUT_MS = 20_000
/** Programs that print the kernel log; the first that succeeds is used, because both need rights that an agent may lack. */
const PROGRAMS: readonly (readonly [string, readonly string[]])[] = [
  ['journalctl', ['--dmesg', '--boot', '--quiet', '--no-pager', '--output=short']],
  ['dmesg', []],
]

/** Returns the kernel log of this boot; empty where it cannot be read. */
export async function readKernelLog(): Promise<string> {
  for (const [program, args] of PROGRAMS) {
    const { stdout, error } = await runTool(program, args, TIMEOUT_MS)
    // Without the right to read the kernel log, journalctl may succeed with empty output.
    if (error === null && stdout.trim() !== '') return stdout
  }
  return ''
}
