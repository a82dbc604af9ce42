import { randomBytes } from 'node:crypto'
import { closeSync, cpSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, within } from '../support/lab.ts'
import { Load } from '../support/load.ts'
import { call, createQueue, freePort, launchPlane, type Plane, readiness, readyPlane, startPlane } from '../support/plane.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const JOBS = 400
const OTHER_JOBS = 20
const PAGE_BYTES = 4_096
const NOTED_MS = 12_000
/** The plane checks its files at its start and once a minute. */
const NOTICED_LIMIT_MS = 70_000

interface Damage {
  what: string
  /** Returns the damaged database file below the storage directory. */
  database: (storage: string) => string
  hit: (database: string) => void
  /** Set if the damaged part holds no acknowledged data. Otherwise those jobs are lost, and the plane must report it. */
  isHarmless?: true
}

/** The database of the queue with the most jobs. */
const queueFile = (storage: string) => largest(join(storage, 'do/podplane-EndpointObject'))
const accountsFile = (storage: string) => largest(join(storage, 'd1/miniflare-D1DatabaseObject'))
const alarmsFile = (storage: string) => join(storage, 'do/podplane-EndpointObject/metadata.sqlite')

const DAMAGES: readonly Damage[] = [
  { what: 'the end of a log is cut off', database: queueFile, hit: (path) => cutEnd(`${path}-wal`, PAGE_BYTES / 2), isHarmless: true },
  {
    what: 'garbage in the last page of a log',
    database: queueFile,
    hit: (path) => garble(`${path}-wal`, statSync(`${path}-wal`).size - PAGE_BYTES),
    isHarmless: true,
  },
  { what: 'the file of alarms is gone', database: alarmsFile, hit: removeAll, isHarmless: true },
  { what: 'the log of an object is gone', database: queueFile, hit: (path) => rmSync(`${path}-wal`) },
  {
    what: 'garbage in page 1 of an object',
    database: queueFile,
    hit: (path) => {
      writeLogBack(path)
      garble(path, 0)
    },
  },
  { what: 'garbage in the log of D1', database: accountsFile, hit: (path) => garble(`${path}-wal`, 0) },
]

/** Damages files of a killed plane before it is started again. */
export async function measureDamage(lab: Lab): Promise<Row[]> {
  const options = { dataDir: lab.path('data'), port: await freePort(), args: ['--no-agent'] }
  const plane = await startPlane(lab, options)
  const load = new Load(lab, plane, await createQueue(plane), { clients: 1 })
  const other = new Load(lab, plane, await createQueue(plane), { clients: 1 })
  for (let number = 0; number < OTHER_JOBS; number += 1) await other.submit(number)
  for (let number = 0; number < JOBS; number += 1) await load.submit(number)
  const ids = [...load.acknowledged.keys()]
  // The end of the log holds a write that is not checked.
  await load.submit(JOBS)
  // The plane records its logs every 10 s, and a queue without calls is closed meanwhile.
  for (const end = performance.now() + NOTED_MS; performance.now() < end; await sleep(1_000)) await load.lookUp(plane, ids.slice(-1))
  await lab.killAll()
  const original = lab.path('original')
  cpSync(options.dataDir, original, { recursive: true, preserveTimestamps: true })
  const rows: Row[] = []
  for (const damage of DAMAGES) {
    rmSync(options.dataDir, { recursive: true })
    cpSync(original, options.dataDir, { recursive: true, preserveTimestamps: true })
    const database = damage.database(join(options.dataDir, 'plane'))
    damage.hit(database)
    rows.push(await judge(lab, damage, plane, { load, other, ids, file: basename(database) }))
    await lab.killAll()
  }
  return rows
}

async function judge(
  lab: Lab,
  damage: Damage,
  { options }: Plane,
  { load, other, ids, file }: { load: Load; other: Load; ids: readonly string[]; file: string },
): Promise<Row> {
  const program = launchPlane(lab, options)
  const plane = await readyPlane(program, options)
  const row = { what: `damage: ${damage.what}`, tried: String(ids.length) }
  if (plane === undefined) {
    const text = program.output().trim().split('\n').at(-1) ?? ''
    lab.say(`${damage.what}: it does not start: ${text.slice(0, 160)}`)
    const isClear = text.includes('Restore') && damage.isHarmless === undefined
    return { ...row, lost: 0, wrong: faultsOf({ count: 0 }, { [text.slice(0, 200)]: !isClear }), recovered: 'refused, with what to do' }
  }
  const seen = await load.lookUp(plane, ids)
  const others = await other.lookUp(plane)
  const failed = [...seen.errors].map(([status, count]) => `${count} × ${status}`).join(', ')
  const isNotified =
    damage.isHarmless || (await within(NOTICED_LIMIT_MS, async () => (await reportsOf(plane, file)) && { told: true }, 2_000))
  const ready = await readiness(plane)
  lab.say(`${damage.what}: ${seen.found} found, ${seen.lost} lost, ${failed || 'no errors'}; /readyz ${ready}`)
  const silently = isNotified ? 0 : seen.lost
  const note = damage.isHarmless ? '' : `${seen.lost} are gone with the file, ${failed || 'no errors'}`
  return {
    ...row,
    lost: damage.isHarmless ? seen.lost : silently,
    wrong: faultsOf(
      { count: 0 },
      {
        [`answers ${failed}`]: !!damage.isHarmless && seen.errors.size > 0,
        'other queues are not whole': others.found !== OTHER_JOBS,
        [`/readyz ${ready}`]: ready !== (damage.isHarmless ? '200' : '503'),
        [`${file} is not named`]: !isNotified,
      },
      note,
    ),
    recovered: `ready in ${seconds(plane.readyMs)}`,
  }
}

/** Whether the plane's status for the operator mentions this file. */
async function reportsOf(plane: Plane, file: string): Promise<boolean> {
  const { text } = await call(plane.url, plane.operatorKey, 'GET', '/admin/v1/plane')
  return text.includes(file)
}

function largest(folder: string): string {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.sqlite-wal') && !name.startsWith('metadata'))
  const [name = ''] = logs.sort((a, b) => statSync(join(folder, b)).size - statSync(join(folder, a)).size)
  return join(folder, name.replace(/-wal$/, ''))
}

/** Writes the log back, as closing the database does. */
function writeLogBack(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

function cutEnd(path: string, bytes: number): void {
  truncateSync(path, statSync(path).size - bytes)
}

function garble(path: string, at: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, randomBytes(PAGE_BYTES), 0, PAGE_BYTES, at)
  closeSync(file)
}

function removeAll(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}
