import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { amountRow, type Row } from '../report.ts'

const ROUNDS = 15
const PROGRAM = join(PROJECT_ROOT, 'dist/podplane.mjs')
/** Target of the start time, milliseconds: at this speed the start is not noticeable. */
const START_MS = 120

/**
 * Time until `podplane` prints something, compared with an empty Node program: the minimum of several rounds, which other processes disturb
 * least.
 */
export async function measureCli(): Promise<Row[]> {
  execFileSync(process.execPath, [join(PROJECT_ROOT, 'scripts/build.ts')])
  const [bare, help, action] = [timed('-e', '0'), timed(PROGRAM, '--help'), timed(PROGRAM, 'completion', 'bash')]
  for (let round = 0; round < ROUNDS; round += 1) for (const { argv, ms } of [bare, help, action]) ms.push(runMs(argv))
  return [
    amountRow('node alone', Math.min(...bare.ms), 'ms'),
    amountRow('podplane --help', Math.min(...help.ms), 'ms', { atMost: START_MS }),
    amountRow('podplane completion bash, which loads an action', Math.min(...action.ms), 'ms', { atMost: START_MS }),
  ]
}

function timed(...argv: string[]): { argv: string[]; ms: number[] } {
  return { argv, ms: [] }
}

function runMs(argv: readonly string[]): number {
  const startedAt = performance.now()
  const { status } = spawnSync(process.execPath, argv, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`)
  return performance.now() - startedAt
}
