import { execFile } from 'node:child_process'
import { errorText, hasCode } from '../../node/fail.ts'

const PROGRAM = 'nft'
const TIMEOUT_MS = 10_000
const TEXT_MAX_CHARS = 300
/** Where distributions keep it; the path of a user leaves these out. */
const PROGRAM_DIRS = ['/usr/sbin', '/sbin', '/usr/local/sbin']

/** The machine's packet filter; tests put a fake here. */
export interface Nft {
  /** Carries out a script as a whole, or not at all. */
  apply(script: string): Promise<void>
  /** A table as it is, without counters; undefined when there is none. */
  show(table: string): Promise<string | undefined>
}

/** Through the program `nft`, which the kernel lets root use. */
export const NFT: Nft = {
  apply: async (script) => void (await run(['-f', '-'], script)),
  show: async (table) => {
    try {
      return await run(['--stateless', 'list', 'table', 'inet', table], '')
    } catch (error) {
      if (/No such file or directory|does not exist/i.test(errorText(error))) return undefined
      throw error
    }
  },
}

function run(args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: 'C', PATH: [process.env.PATH, ...PROGRAM_DIRS].join(':') }
    const child = execFile(PROGRAM, args, { timeout: TIMEOUT_MS, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else
        reject(hasCode(error, 'ENOENT') ? new Error('the program nft is not installed') : new Error(firstLine(stderr) || errorText(error)))
    })
    // It may have ended before it has read everything; then it says why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n')
  return line.slice(0, TEXT_MAX_CHARS)
}
