import { parseArgs } from 'node:util'
import { Chaos } from './chaos/chaos.ts'
import { drawBlows } from './chaos/draw.ts'
import { Lab } from './support/lab.ts'
import { formatTable, isBad } from './support/report.ts'

// `npm run chaos`: one plane, one host and their clients live through 50 faults of all kinds, one after the other. `-- --blows 5` uses
// fewer, `--seed N` repeats an order. It needs root for mounts and loop devices. README.md describes the faults.

const USAGE = 'usage: npm run chaos -- [--blows N] [--seed N]; both are whole numbers above 0\n'
const DEFAULT_BLOWS = '50'

const { values } = parseArgs({ options: { blows: { type: 'string', default: DEFAULT_BLOWS }, seed: { type: 'string' } } })
const count = Number(values.blows)
const seed = Number(values.seed ?? Math.ceil(Math.random() * 1e9))
if (![count, seed].every((number) => Number.isSafeInteger(number) && number > 0)) {
  process.stderr.write(USAGE)
  process.exit(2)
}

process.stderr.write(`chaos with seed ${seed}; again: npm run chaos -- --blows ${count} --seed ${seed}\n`)
const lab = new Lab(false)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void lab.close().finally(() => process.exit(130)))
let exitCode = 2
try {
  const rows = await new Chaos(lab).run(drawBlows(count, seed))
  process.stdout.write(`${formatTable(rows)}\n`)
  exitCode = rows.some(isBad) ? 1 : 0
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
} finally {
  await lab.close()
}
// Calls that are still in progress would keep the process alive.
process.exit(exitCode)
