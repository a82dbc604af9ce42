import { execFile } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Lab } from '../support/lab.ts'
import { Load } from '../support/load.ts'
import {
  call,
  createQueue,
  type Demo,
  freePort,
  launchPlane,
  type PlaneOptions,
  readyPlane,
  startPlane,
  stopPlane,
} from '../support/plane.ts'
import { type Row, span } from '../support/report.ts'

const CLIENTS = 4
const PAUSE_MS = 10
const TEMPLATE_PAUSE_MS = 50
const MAX_TEMPLATES = 1_000
const BETWEEN_MS = 3_000
/** Newest jobs that are looked up in each copy: those that a copy could miss. */
const LOOKUP = 2_000

/** Copies a running data directory with `cp -r` under load, and starts a plane from each copy while the original still exists. */
export async function measureCopies(lab: Lab): Promise<Row[]> {
  const plane = await startPlane(lab, { dataDir: lab.path('data'), port: await freePort(), args: ['--no-agent'] })
  const load = new Load(lab, plane, await createQueue(plane), { clients: CLIENTS, pauseMs: PAUSE_MS }).start()
  const templates = new Templates(lab, plane)
  const total = { copies: 0, jobs: 0, templates: 0, lost: 0, took: [] as number[], faults: new Map<string, number>() }
  for (const copies = lab.count(10, 2); total.copies < copies; total.copies += 1) {
    await sleep(BETWEEN_MS)
    const jobs = [...load.acknowledged.keys()].slice(-LOOKUP)
    const names = [...templates.made]
    const copy = lab.path(`copy-${total.copies}`)
    await promisify(execFile)('cp', ['-r', plane.options.dataDir, copy])
    total.jobs += jobs.length
    total.templates += names.length
    const { lost, faults, readyMs } = await startCopy(lab, load, { dataDir: copy, jobs, names })
    total.lost += lost
    if (readyMs !== undefined) total.took.push(readyMs)
    for (const fault of faults) total.faults.set(fault, (total.faults.get(fault) ?? 0) + 1)
    lab.say(
      `copy ${total.copies + 1}: ${jobs.length} jobs and ${names.length} templates, ${lost} lost; ${faults.join('; ') || 'no faults'}`,
    )
    rmSync(copy, { recursive: true })
  }
  await templates.stop()
  await load.stop()
  return [
    {
      what: 'backup by `cp -r` under load, started from the copy',
      tried: `${total.copies} copies, ${total.jobs} jobs and ${total.templates} templates looked at`,
      lost: total.lost,
      wrong: {
        count: [...total.faults.values()].reduce((sum, count) => sum + count, 0),
        note: [...total.faults].map(([fault, count]) => `${count} × ${fault}`).join('; '),
      },
      recovered: `${total.took.length} of ${total.copies}, ${span(total.took)}`,
    },
  ]
}

async function startCopy(
  lab: Lab,
  load: Load,
  { dataDir, jobs, names }: { dataDir: string; jobs: readonly string[]; names: readonly string[] },
): Promise<{ lost: number; faults: string[]; readyMs?: number }> {
  const options: PlaneOptions = { dataDir, port: await freePort(), args: ['--no-agent'] }
  const program = launchPlane(lab, options)
  const plane = await readyPlane(program, options)
  if (plane === undefined) {
    program.signal('SIGKILL')
    return { lost: 0, faults: [program.output().trim().split('\n').at(-1)?.slice(0, 200) ?? 'it does not start'] }
  }
  const seen = await load.lookUp(plane, jobs)
  const { body } = await call(plane.url, plane.apiKey, 'GET', '/v2/templates')
  const known = new Set(((body.templates ?? []) as { name: string }[]).map(({ name }) => name))
  const missing = names.filter((name) => !known.has(name)).length
  await stopPlane(lab, plane)
  const damaged = integrityFaults(join(dataDir, 'plane'))
  const errors = [...seen.errors].map(([status, count]) => `${count} answers ${status}`)
  return { lost: seen.lost + missing, faults: [...errors, ...damaged], readyMs: plane.readyMs }
}

/** Returns the faults that SQLite finds in the databases below a directory that no process uses. */
function integrityFaults(storage: string): string[] {
  const files = readdirSync(storage, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sqlite'))
  return files.flatMap((name) => {
    const database = new DatabaseSync(join(storage, name))
    try {
      const found = database
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => String(row.integrity_check))
      return found.filter((text) => text !== 'ok').map((text) => `integrity: ${text}`)
    } finally {
      database.close()
    }
  })
}

/** Creates templates, which are stored in D1, one after another. */
class Templates {
  readonly made: string[] = []
  private closed = false
  private readonly loop: Promise<void>

  constructor(lab: Lab, demo: Demo) {
    lab.defer(() => this.stop())
    this.loop = this.run(demo)
  }

  async stop(): Promise<void> {
    this.closed = true
    await this.loop
  }

  private async run(demo: Demo): Promise<void> {
    for (let number = 0; !this.closed && number < MAX_TEMPLATES; number += 1) {
      const name = `template-${number}`
      const { status } = await call(demo.url, demo.apiKey, 'POST', '/v2/templates', { name, image: 'builtin/idle' })
      if (status >= 200 && status < 300) this.made.push(name)
      await sleep(TEMPLATE_PAUSE_MS)
    }
  }
}
