import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { describeProcessor } from '../processor.ts'
import { measureRatios } from '../sections/cpu.ts'
import { type Committed, compareRatios, exitCodeOf, formatJudged, summarize } from './compare.ts'

/** The committed ratios, and where they were measured. */
interface RatiosFile {
  date: string
  commit: string
  runtime: string
  processor: string
  ratios: Record<string, Committed>
}

const FILE = 'bench/cpu/ratios.json'
const PATH = join(PROJECT_ROOT, FILE)
const ROUNDS = 5
/** Tolerance of an operation that the file does not have yet. */
const TOLERANCE = 0.1
const WRITE = 'npm run bench -- cpu --write'
const WHEN_NOISY = 'Stop other programs on this machine, and run the command again.'

/** Compares the processor time of each operation with the committed ratios; returns the exit code. */
export async function checkRatios(): Promise<number> {
  const committed = readCommitted()
  if (!committed) throw new Error(`${FILE} does not exist. Record the ratios on a quiet machine with \`${WRITE}\`, and commit the file.`)
  const { runtime, ratios } = await measureRatios(ROUNDS)
  const judged = compareRatios(ratios, committed.ratios)
  print(`${FILE}: ${committed.date}, ${committed.commit}, ${committed.runtime}, ${committed.processor}`)
  print(`this run: ${runtime}, ${describeProcessor()}`)
  for (const operation of judged) print(formatJudged(operation))
  const exitCode = exitCodeOf(judged)
  if (exitCode === 0) print('no regression')
  if (exitCode === 1) print(`A regression. If it is intended, record the new ratios with \`${WRITE}\`, and give the reason in the commit.`)
  if (judged.some(({ verdict }) => verdict === 'NOISY')) print(`NOISY: the rounds differ by more than the tolerance. ${WHEN_NOISY}`)
  return exitCode
}

/** Records the measured ratios in the file, unless their rounds differ too much; returns the exit code. */
export async function writeRatios(): Promise<number> {
  const before = readCommitted()?.ratios ?? {}
  const { runtime, ratios } = await measureRatios(ROUNDS)
  const recorded: Record<string, Committed> = {}
  for (const [operation, rounds] of Object.entries(ratios)) {
    recorded[operation] = { ratio: Number(summarize(rounds).ratio.toFixed(2)), tolerance: before[operation]?.tolerance ?? TOLERANCE }
  }
  const judged = compareRatios(ratios, recorded)
  for (const operation of judged) print(formatJudged(operation))
  if (exitCodeOf(judged) !== 0) {
    print(`Not recorded: the rounds differ by more than the tolerance. ${WHEN_NOISY}`)
    return exitCodeOf(judged)
  }
  const file: RatiosFile = { date: today(), commit: commit(), runtime, processor: describeProcessor(), ratios: recorded }
  writeFileSync(PATH, `${JSON.stringify(file, null, 2)}\n`)
  print(`recorded in ${FILE}`)
  return 0
}

function readCommitted(): RatiosFile | undefined {
  return existsSync(PATH) ? (JSON.parse(readFileSync(PATH, 'utf8')) as RatiosFile) : undefined
}

function today(): string {
  return new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Returns the commit of the checkout, with `-dirty` if files differ from it. */
function commit(): string {
  return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { cwd: PROJECT_ROOT, encoding: 'utf8' }).trim()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
