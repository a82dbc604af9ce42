import { loadavg, totalmem } from 'node:os'
import { errorText } from '../src/node/fail.ts'
import { checkRatios, writeRatios } from './cpu/check.ts'
import { profile } from './cpu/profile.ts'
import { LOAD_GENERATOR } from './load/closed-loop.ts'
import { describeProcessor } from './processor.ts'
import { formatRows, formatVerdict, type Row } from './report.ts'
import { measureBeats } from './sections/beats.ts'
import { measureBill } from './sections/bill.ts'
import { measureBilling } from './sections/billing.ts'
import { measureCatalog } from './sections/catalog.ts'
import { measureCli } from './sections/cli.ts'
import { measureClusters } from './sections/clusters.ts'
import { measureConsole } from './sections/console.ts'
import { measureCpu } from './sections/cpu.ts'
import { measureGrowth } from './sections/growth.ts'
import { measureLatency } from './sections/latency.ts'
import { measureMemory } from './sections/memory.ts'
import { measureNeighbours } from './sections/neighbours.ts'
import { measurePeers } from './sections/peers.ts'
import { measurePods } from './sections/pods.ts'
import { measureReads } from './sections/reads.ts'
import { measureServing } from './sections/serving.ts'
import { measureThroughput } from './sections/throughput.ts'

// `npm run bench` measures the cost of our own code. `npm run bench -- growth memory` runs only these sections. It is a measurement, not a
// test: it fails if an answer is wrong, and never if it is slow, except for `-- cpu --check`.

const SECTIONS: Record<string, () => Promise<Row[]>> = {
  throughput: measureThroughput,
  cpu: measureCpu,
  reads: measureReads,
  growth: measureGrowth,
  latency: measureLatency,
  serving: measureServing,
  memory: measureMemory,
  pods: measurePods,
  neighbours: measureNeighbours,
  beats: measureBeats,
  bill: measureBill,
  billing: measureBilling,
  catalog: measureCatalog,
  clusters: measureClusters,
  cli: measureCli,
  console: measureConsole,
  peers: measurePeers,
}

/** Commands beside the sections; each returns the exit code. */
const COMMANDS: Record<string, () => Promise<number>> = { 'cpu --check': checkRatios, 'cpu --write': writeRatios, 'cpu --profile': profile }
/** The exit code when nothing could be measured; 1 means that something regressed. */
const NOT_MEASURED = 2

const wanted = process.argv.slice(2)
const command = COMMANDS[wanted.join(' ')]
const unknown = command ? [] : wanted.filter((name) => !Object.hasOwn(SECTIONS, name))
if (unknown.length > 0) {
  const known = [...Object.keys(SECTIONS), ...Object.keys(COMMANDS)].join(', ')
  process.stderr.write(`no such section: ${unknown.join(', ')}; there are ${known}\n`)
  process.exit(NOT_MEASURED)
}

process.stdout.write(`podplane bench: ${describeMachine()}\n`)
if (command) process.exitCode = await command().catch(describeFailure)
else await measureSections()

async function measureSections(): Promise<void> {
  for (const [name, measure] of Object.entries(SECTIONS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const startedAt = performance.now()
    const rows = await measure()
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    process.stdout.write(`\n${name} (${seconds} s${formatVerdict(rows)})\n${formatRows(rows)}\n`)
  }
  process.stdout.write('\nOnly ratios of one run compare; rates depend on the machine and its mood.\n')
}

function describeFailure(error: unknown): number {
  process.stderr.write(`${errorText(error)}\n`)
  return NOT_MEASURED
}

function describeMachine(): string {
  const [load = 0] = loadavg()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  return `${describeProcessor()}, ${memory}, Node ${process.versions.node}, load by ${LOAD_GENERATOR}, load average before ${load.toFixed(1)}`
}
