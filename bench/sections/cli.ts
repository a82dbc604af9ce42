import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { amountRow, type Row } from '../report.ts'

const ROUNDS = 15
const PROGRAM = join(PROJECT_ROOT, 'dist/podplane.mjs')
/** Of a shell that feels as if nothing had to be loaded. */
const START_MS = 120

/** How long `podplane` takes until it says something, beside a Node that does nothing: the fastest of some rounds, which others of this machine have left alone. */
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
