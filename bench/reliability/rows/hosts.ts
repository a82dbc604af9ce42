import { cpSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { BeatingHosts } from '../../../test/e2e/support/plane/beating-hosts.ts'
import { type Lab, within } from '../support/lab.ts'
import { freePort, type PlaneOptions, START_LIMIT_MS, startPlane } from '../support/plane.ts'
import type { Row } from '../support/report.ts'
import { Starts, startOnce } from '../support/starts.ts'

/** Hosts are declared silent after 30 s; after this time all of them are overdue. */
const OVERDUE_MS = 35_000
const SETTLE_MS = 2_000

/** Starts with hosts whose heartbeats are overdue, and with hosts that all link again at once. */
export async function measureHosts(lab: Lab): Promise<Row[]> {
  const rows: Row[] = []
  const plan = lab.isShort
    ? ([[100, 1]] as const)
    : ([
        [100, 4],
        [600, 8],
      ] as const)
  for (const [count, times] of plan) rows.push(...(await withHosts(lab, count, times)))
  return rows
}

async function withHosts(lab: Lab, count: number, times: number): Promise<Row[]> {
  const options = { dataDir: lab.path(`hosts-${count}`), port: await freePort(), args: ['--no-agent'] }
  const original = lab.path(`hosts-${count}.original`)
  const plane = await startPlane(lab, options)
  const hosts = new BeatingHosts()
  lab.defer(() => hosts.close())
  await hosts.join(plane, count)
  lab.say(`${hosts.linked} hosts have joined and are linked`)
  await sleep(SETTLE_MS)
  await lab.killAll()
  hosts.close()
  cpSync(options.dataDir, original, { recursive: true })
  await sleep(OVERDUE_MS)
  const restore = () => {
    rmSync(options.dataDir, { recursive: true })
    cpSync(original, options.dataDir, { recursive: true })
  }
  const silent = new Starts()
  for (let time = 0; time < times; time += 1) {
    restore()
    silent.note(await startOnce(lab, options))
    await lab.killAll()
    lab.say(`start with ${count} overdue hosts: ${silent.text()}`)
  }
  restore()
  hosts.redial()
  const beating = await startUnderBeats(lab, options, hosts, { count, times })
  hosts.close()
  return [silent.row(`start with ${count} hosts whose beats are overdue`), beating]
}

async function startUnderBeats(
  lab: Lab,
  options: PlaneOptions,
  hosts: BeatingHosts,
  { count, times }: { count: number; times: number },
): Promise<Row> {
  const starts = new Starts()
  let unlinked = 0
  for (let time = 0; time < times; time += 1) {
    const isReady = starts.note(await startOnce(lab, options))
    if (isReady) await within(START_LIMIT_MS, () => hosts.linked === count)
    if (isReady) unlinked += count - hosts.linked
    lab.say(`restart with ${count} beating hosts: ${starts.text()}; ${hosts.linked} are linked again`)
    await lab.killAll()
  }
  const row = starts.row(`restart while ${count} hosts beat`)
  const note = unlinked > 0 ? `${unlinked} links are not back after ${START_LIMIT_MS / 1000} s` : ''
  return { ...row, wrong: { count: (row.wrong?.count ?? 0) + unlinked, note: [row.wrong?.note, note].filter(Boolean).join(', ') } }
}
