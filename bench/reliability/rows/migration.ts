import { randomInt } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../support/lab.ts'
import { Load } from '../support/load.ts'
import {
  call,
  createQueue,
  freePort,
  GPU_ARGS,
  launchPlane,
  must,
  type Plane,
  type PlaneOptions,
  readyPlane,
  startPlane,
  stopPlane,
} from '../support/plane.ts'
import { previousRelease } from '../support/release.ts'
import { faultsOf, type Row, seconds, span } from '../support/report.ts'
import { countRows, multiplyRows, openAccounts } from '../support/seed.ts'

const CLIENTS = 16
/** No machine of the lab simulates a GPU of this pool. */
const ABSENT_POOL = 'AMPERE_80'
/** Jobs that are looked up of each kind. */
const LOOKUP = 500
/** Limit of a start, milliseconds; with this many rows it takes longer than any other. */
const START_LIMIT_MS = 180_000
const PODS_LIMIT_MS = 20_000

/** Upgrades a directory of the previous release with many rows; then kills the start that migrates, repeatedly. */
export async function measureMigration(lab: Lab): Promise<Row[]> {
  const options = { dataDir: lab.path('data'), port: await freePort(), args: ['--no-agent'] }
  const sizes = { jobs: lab.count(100_000, 2_000), pods: lab.count(10_000, 1_000), usage: lab.count(500_000, 50_000) }
  const { plane, loads } = await prepare(lab, options, sizes)
  const original = lab.path('original')
  cpSync(options.dataDir, original, { recursive: true })
  const first = await readyPlane(launchPlane(lab, options), options, START_LIMIT_MS)
  if (first === undefined) throw new Error('the upgrade is not ready')
  const faults = await judge(first, loads, sizes)
  await lab.killAll()
  const second = await startPlane(lab, options)
  await lab.killAll()
  return [
    {
      what: `upgrade with ${sizes.jobs} jobs, ${sizes.pods} pods, ${sizes.usage} usage rows`,
      tried: '1',
      lost: faults.lost,
      wrong: faults.wrong,
      recovered: `${seconds(first.readyMs)} once, then ${seconds(second.readyMs)}`,
    },
    await killInside(lab, { options: plane.options, original, loads, sizes, startMs: first.readyMs }),
  ]
}

type Sizes = Record<'jobs' | 'pods' | 'usage', number>

/** The jobs that ended, whose results are retained for a time, and the jobs that wait for workers, which are retained for a day. */
interface Loads {
  ended: Load
  waiting: Load
}

async function prepare(lab: Lab, options: PlaneOptions, sizes: Sizes): Promise<{ plane: Plane; loads: Loads }> {
  const previous = { ...options, cwd: previousRelease(lab) }
  const plane = await startPlane(lab, { ...previous, args: GPU_ARGS })
  const { id } = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name: 'box', image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  const path = `/v2/pods/${String(id)}`
  for (const end = performance.now() + PODS_LIMIT_MS; performance.now() < end; await sleep(200))
    if ((await call(plane.url, plane.apiKey, 'GET', path)).body.status === 'RUNNING') break
  await must(plane.url, plane.apiKey, 'POST', `${path}/action`, { action: 'stop' })
  const ended = new Load(lab, plane, await createQueue(plane), { clients: CLIENTS })
  const waiting = new Load(lab, plane, await createQueue(plane, ABSENT_POOL), { clients: CLIENTS })
  await submit(waiting, LOOKUP)
  await submit(ended, sizes.jobs)
  await stopPlane(lab, plane)
  const database = openAccounts(options.dataDir)
  multiplyRows(database, 'pods', sizes.pods - 1)
  multiplyRows(database, 'pod_usage', sizes.usage - 1, {
    version: 'n.value + 100',
    started_at: 'r.started_at - n.value * 1000',
    ended_at: 'r.ended_at - n.value * 1000 + 900',
  })
  database.close()
  lab.say(`${ended.acknowledged.size} jobs, ${sizes.pods} pods and ${sizes.usage} rows of usage are there`)
  return { plane: { ...plane, options }, loads: { ended, waiting } }
}

async function submit(load: Load, jobs: number): Promise<void> {
  load.start()
  while (load.acknowledged.size < jobs) await sleep(20)
  await load.stop()
}

async function killInside(
  lab: Lab,
  { options, original, loads, sizes, startMs }: { options: PlaneOptions; original: string; loads: Loads; sizes: Sizes; startMs: number },
): Promise<Row> {
  const times = lab.count(20, 4)
  const applied = new Map<number, number>()
  const took: number[] = []
  let lost = 0
  let wrong: { count: number; note?: string } = { count: 0 }
  for (let time = 0; time < times; time += 1) {
    rmSync(options.dataDir, { recursive: true })
    cpSync(original, options.dataDir, { recursive: true })
    launchPlane(lab, options)
    // The runtime runs after about a second; nearly all of the remaining time is the migration.
    await sleep(randomInt(Math.floor(startMs * 0.2), Math.ceil(startMs * 0.95)))
    await lab.killAll()
    const database = openAccounts(options.dataDir)
    const count = countRows(database, 'd1_migrations')
    database.close()
    applied.set(count, (applied.get(count) ?? 0) + 1)
    const plane = await readyPlane(launchPlane(lab, options), options, START_LIMIT_MS)
    if (plane === undefined) wrong = faultsOf(wrong, { 'a start is not ready': true })
    else {
      took.push(plane.readyMs)
      const seen = await judge(plane, loads, sizes)
      lost += seen.lost
      wrong = faultsOf({ count: wrong.count + seen.wrong.count, note: [wrong.note, seen.wrong.note].filter(Boolean).join('; ') }, {})
    }
    await lab.killAll()
    const check = openAccounts(options.dataDir)
    const verdict = String(check.prepare('PRAGMA integrity_check').get()?.integrity_check)
    check.close()
    wrong = faultsOf(wrong, { [`integrity: ${verdict}`]: verdict !== 'ok' })
    lab.say(`kill ${time + 1}: ${count} migrations were applied; ${lost} lost, ${wrong.count} wrong`)
  }
  const when = [...applied].sort(([a], [b]) => a - b).map(([count, kills]) => `${kills} × ${count}`)
  return {
    what: 'kill -9 in that migration',
    tried: `${times} (files applied at the kill: ${when.join(', ')})`,
    lost,
    wrong,
    recovered: `${took.length} of ${times} at the next start, ${span(took)}`,
  }
}

/** Checks that all data is present: jobs by their status while they are retained, pods by the list, usage in the database. */
async function judge(plane: Plane, loads: Loads, sizes: Sizes): Promise<{ lost: number; wrong: { count: number; note: string } }> {
  const ended = await lookUpSome(plane, loads.ended, loads.ended.keptIds())
  const waiting = await lookUpSome(plane, loads.waiting, [...loads.waiting.acknowledged.keys()])
  const lost = ended.lost + waiting.lost
  const errors = [...new Set([...ended.errors.keys(), ...waiting.errors.keys()])]
  const { status } = await call(plane.url, plane.apiKey, 'GET', '/v2/pods')
  const database = openAccounts(plane.options.dataDir)
  const rows = { pods: countRows(database, 'pods'), usage: countRows(database, 'usage') }
  const days = countRows(database, 'usage_totals')
  database.close()
  return {
    lost: lost + Math.max(0, sizes.pods - rows.pods) + Math.max(0, sizes.usage - rows.usage),
    wrong: faultsOf(
      { count: 0 },
      {
        [`pods answered ${status}`]: status !== 200,
        [`status answered ${errors.join(', ')}`]: errors.length > 0,
        [`${rows.usage} rows of usage`]: rows.usage > sizes.usage + 1,
        'no sums of days': days === 0,
      },
    ),
  }
}

function lookUpSome(plane: Plane, load: Load, ids: string[]) {
  const step = Math.ceil(ids.length / LOOKUP)
  return load.lookUp(
    plane,
    ids.filter((_, index) => index % step === 0),
  )
}
