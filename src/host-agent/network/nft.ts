import { errorText } from '../../node/fail.ts'
import { runProgram } from './run-program.ts'

const PROGRAM = 'nft'

/** `inet`: tables of the whole machine; `netdev`: tables of single interfaces. */
export type TableFamily = 'inet' | 'netdev'

/** The machine's packet filter; tests substitute a fake. */
export interface Nft {
  /** Applies a script as a whole, or not at all. */
  apply(script: string): Promise<void>
  /** Current text of a table, without counters and set elements; undefined when there is no such table. */
  show(table: string, family?: TableFamily): Promise<string | undefined>
}

/** Uses the program `nft`, which needs root. */
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
