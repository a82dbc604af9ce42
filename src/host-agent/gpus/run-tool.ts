import { execFile } from 'node:child_process'

const OUTPUT_MAX_BYTES = 16 * 2 ** 20

/** The result of a program of the machine. */
export interface ToolOutput {
  /** Also what a failed program has printed. */
  stdout: string
  /** Null: the program succeeded. Its code is `ENOENT` where the program is not installed. */
  error: Error | null
}

/** Runs a program of this machine for at most `timeoutMs`. Never rejects. */
export function runTool(program: string, args: readonly string[], timeoutMs: number): Promise<ToolOutput> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: timeoutMs, maxBuffer: OUTPUT_MAX_BYTES }, (error, stdout) => resolve({ stdout, error }))
  })
}
