import { measureClocks } from './rows/clocks.ts'
import { measureClusters } from './rows/clusters.ts'
import { measureCopies } from './rows/copies.ts'
import { measureCrashes } from './rows/crash.ts'
import { measureDamage } from './rows/damage.ts'
import { measureDiskFullAgent, measureDiskFullPlane } from './rows/disk-full.ts'
import { measureHosts } from './rows/hosts.ts'
import { measureMigration } from './rows/migration.ts'
import { measureNetwork } from './rows/network.ts'
import { measureFirstStart, measureJoin, measurePowerCuts } from './rows/power.ts'
import { measureReleases } from './rows/releases.ts'
import { measureRestart, measureStoppedLauncher } from './rows/restart.ts'
import { measureTwoAgents } from './rows/two-agents.ts'
import { measureTwoPlanes } from './rows/two-planes.ts'
import { measureUpgrade } from './rows/upgrade.ts'
import { Lab } from './support/lab.ts'
import { formatTable, isBad, type Row, seconds } from './support/report.ts'

// `npm run reliability`: kills, cuts and fills a plane of its own and counts losses. `npm run reliability -- restart clocks` runs only
// these rows, `--short` uses smaller counts. It needs root for mounts, loop devices and namespaces. README.md describes each row.

const ROWS: Record<string, (lab: Lab) => Promise<Row[]>> = {
  crash: measureCrashes,
  power: measurePowerCuts,
  'first-start': measureFirstStart,
  join: measureJoin,
  upgrade: measureUpgrade,
  migration: measureMigration,
  releases: measureReleases,
  network: measureNetwork,
  copies: measureCopies,
  'disk-full': measureDiskFullPlane,
  'agent-disk-full': measureDiskFullAgent,
  damage: measureDamage,
  'two-agents': measureTwoAgents,
  'two-planes': measureTwoPlanes,
  clocks: measureClocks,
  restart: measureRestart,
  hosts: measureHosts,
  'stopped-launcher': measureStoppedLauncher,
  clusters: measureClusters,
}

const isShort = process.argv.includes('--short')
const wanted = process.argv.slice(2).filter((argument) => argument !== '--short')
const unknown = wanted.filter((name) => !Object.hasOwn(ROWS, name))
if (unknown.length > 0) {
  process.stderr.write(`no such row: ${unknown.join(', ')}; there are ${Object.keys(ROWS).join(', ')}\n`)
  process.exit(2)
}

const measured: Row[] = []
let lab: Lab | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Rows of an hour are not lost with the one that is interrupted.
    process.stdout.write(`${formatTable(measured)}\n`)
    void (lab?.close() ?? Promise.resolve()).finally(() => process.exit(130))
  })
}

let broken = 0
for (const [name, measure] of Object.entries(ROWS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stderr.write(`${name}\n`)
  const startedAt = performance.now()
  lab = new Lab(isShort)
  try {
    measured.push(...(await measure(lab)))
  } catch (error) {
    broken += 1
    measured.push({ what: name, tried: 'not measured', recovered: error instanceof Error ? error.message : String(error) })
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  } finally {
    await lab.close()
    lab = undefined
    process.stderr.write(`  ${name} took ${seconds(performance.now() - startedAt)}\n`)
  }
}
process.stdout.write(`${formatTable(measured)}\n`)
// Calls that are still in progress would keep the process alive.
process.exit(broken > 0 ? 2 : measured.some(isBad) ? 1 : 0)
