import { execFile } from 'node:child_process'
import { errorText, hasCode } from '../../node/fail.ts'

const TIMEOUT_MS = 10_000
const TEXT_MAX_CHARS = 300
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
/** Directories of network programs in distributions; the PATH of a user lacks them. */
const PROGRAM_DIRS = ['/usr/sbin', '/sbin', '/usr/local/sbin']

/** Runs a program of the machine and returns its output. */
export type RunProgram = (program: string, args: readonly string[], input?: string) => Promise<string>

/** Runs a program of the machine and returns its standard output. Rejects with the first line of its error output. */
export function runProgram(program: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: 'C', PATH: [process.env.PATH, ...PROGRAM_DIRS].join(':') }
    const child = execFile(program, args, { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else
        reject(
          hasCode(error, 'ENOENT')
            ? new Error(`the program ${program} is not installed`)
            : new Error(firstLine(stderr) || errorText(error)),
        )
    })
    // The program may end before it has read all input; then its error output says why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n')
  return line.slice(0, TEXT_MAX_CHARS)
}
