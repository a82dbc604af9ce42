import { cpus, loadavg, totalmem } from 'node:os'
import { LOAD_GENERATOR } from './load/closed-loop.ts'
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
import { measureThroughput } from './sections/throughput.ts'

// `npm run bench` measures the cost of our own code. `npm run bench -- growth memory` runs only these sections. It is a measurement, not a
// test: it fails if an answer is wrong, and never if it is slow.

const SECTIONS: Record<string, () => Promise<Row[]>> = {
  throughput: measureThroughput,
  cpu: measureCpu,
  reads: measureReads,
  growth: measureGrowth,
  latency: measureLatency,
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

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(SECTIONS, name))
if (unknown.length > 0) {
  process.stderr.write(`no such section: ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`)
  process.exit(1)
}

process.stdout.write(`podplane bench: ${describeMachine()}\n`)
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const startedAt = performance.now()
  const rows = await measure()
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  process.stdout.write(`\n${name} (${seconds} s${formatVerdict(rows)})\n${formatRows(rows)}\n`)
}
process.stdout.write('\nOnly ratios of one run compare; rates depend on the machine and its mood.\n')

function describeMachine(): string {
  const processor = `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} threads`
  const [load = 0] = loadavg()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  return `${processor}, ${memory}, Node ${process.versions.node}, load by ${LOAD_GENERATOR}, load average before ${load.toFixed(1)}`
}
