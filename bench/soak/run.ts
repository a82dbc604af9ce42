import { parseArgs } from 'node:util'
import { Lab } from '../reliability/support/lab.ts'
import { exitCodeOf, judge, warmUpMs } from './judge.ts'
import { ruleOf } from './rules.ts'
import { type Soaked, soak } from './soak.ts'
import { formatTable, formatVerdict } from './table.ts'

// `npm run soak`: a steady load on a plane and an agent of its own, and whether anything grows. README.md describes each series.

const MINUTE_MS = 60_000
const DEFAULTS = { minutes: '30', rate: '20' }
/** A load of which a larger part was not sent is not the load that was asked for. */
const HELD_SHARE_MAX = 0.01

const options = readOptions()
const lab = new Lab(false)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Hours of samples are not lost: the first signal ends the load and prints the table, the second one ends at once.
    if (stopping.signal.aborted) void lab.close().finally(() => process.exit(130))
    stopping.abort()
  })
}
let exitCode = 2
try {
  exitCode = print(await soak(lab, { runMs: options.minutes * MINUTE_MS, jobsPerSecond: options.rate, signal: stopping.signal }))
} catch (error) {
  process.stderr.write(`not measured: ${error instanceof Error ? error.stack : String(error)}\n`)
} finally {
  await lab.close()
}
// Calls that are still in progress would keep the process alive.
process.exit(exitCode)

/** Prints the table and returns the exit code. */
function print({ readings, load, hooks, doubledInputs, ranMs, sampleMs, ended }: Soaked): 0 | 1 | 2 {
  const { acknowledged, counts, complaints, mostOpen: openJobs } = load
  const done = { minutes: ranMs / MINUTE_MS, jobs: acknowledged.length, keyed: counts.keyed, pods: counts.pods, openJobs }
  const judged = readings
    .since(warmUpMs(ranMs))
    .map((series) => ({ ...series, ...judge(series.points, ruleOf(series.group, series.of, done)) }))
  const faults = {
    lost: counts.lost + hooks.missing,
    duplicated: counts.duplicated + hooks.doubled + doubledInputs,
    wrong: counts.failed + counts.stuck + counts.refused + counts.podFaults + counts.badReads + ended.length,
  }
  const heldShare = counts.held / Math.max(1, counts.held + done.jobs + counts.refused)
  const skipped = [...readings.skipped].map(([what, times]) => `${what} × ${times}`).join(', ')
  const code = exitCodeOf(
    judged.map(({ verdict }) => verdict),
    faults,
    heldShare <= HELD_SHARE_MAX,
  )
  const lines = [
    formatTable(judged),
    '',
    `${done.minutes.toFixed(1)} min, ${done.jobs} jobs acknowledged, ${counts.ended} completed, ${done.pods} pods, at most ${openJobs} in progress`,
    `jobs lost ${counts.lost}, duplicated ${counts.duplicated + doubledInputs}, failed ${counts.failed}, stuck ${counts.stuck}, refused ${counts.refused}`,
    `webhooks missing ${hooks.missing}, doubled ${hooks.doubled}, repeated with the same id ${hooks.repeats}`,
    `failed pods ${counts.podFaults}, failed reads ${counts.badReads}, ended programs: ${ended.join(', ') || 'none'}`,
    `a sample took ${sampleMs.toFixed(0)} ms (median); samples that could not be read: ${skipped || 'none'}`,
    ...[...complaints].map(([text, times]) => `  ${times} × ${text}`),
    formatVerdict(code, judged, faults, heldShare),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  return code
}

function readOptions(): { minutes: number; rate: number } {
  try {
    const { values } = parseArgs({
      options: { minutes: { type: 'string', default: DEFAULTS.minutes }, rate: { type: 'string', default: DEFAULTS.rate } },
    })
    const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
    if (!(minutes >= 1 && rate >= 1 && rate <= 500)) throw new Error('--minutes is at least 1, and --rate from 1 to 500 jobs per second')
    return { minutes, rate }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}
