import { errorText } from '../../node/fail.ts'
import { runProgram } from './run-program.ts'

const PROGRAM = 'nft'

/** Tables of the whole machine, and those of single interfaces. */
export type TableFamily = 'inet' | 'netdev'

/** The machine's packet filter; tests put a fake here. */
export interface Nft {
  /** Carries out a script as a whole, or not at all. */
  apply(script: string): Promise<void>
  /** A table as it is, without counters and what its sets have gathered; undefined when there is none. */
  show(table: string, family?: TableFamily): Promise<string | undefined>
}

/** Through the program `nft`, which the kernel lets root use. */
export const NFT: Nft = {
  apply: async (script) => void (await run(['-f', '-'], script)),
  show: async (table, family = 'inet') => {
    try {
      return await run(['--stateless', '--terse', 'list', 'table', family, table], '')
    } catch (error) {
      if (/No such file or directory|does not exist/i.test(errorText(error))) return undefined
      throw error
    }
  },
}

function run(args: readonly string[], input: string): Promise<string> {
  return runProgram(PROGRAM, args, input)
}
