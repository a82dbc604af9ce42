import { setTimeout as sleep } from 'node:timers/promises'
import { RestClients } from '../support/clients.ts'
import { type Lab, within } from '../support/lab.ts'
import { freePort, isHealthy, START_LIMIT_MS, startPlane } from '../support/plane.ts'
import { type Row, seconds } from '../support/report.ts'
import { Starts, startOnce } from '../support/starts.ts'

const STOPPED_MS = 60_000
const SETTLE_MS = 2_000

/** Restarts the plane while clients send requests. */
export async function measureRestart(lab: Lab): Promise<Row[]> {
  const rows: Row[] = []
  const plan = lab.isShort
    ? ([[64, 2]] as const)
    : ([
        [64, 5],
        [24, 2],
        [8, 3],
      ] as const)
  for (const [clients, times] of plan) rows.push(await underClients(lab, clients, times))
  return rows
}

async function underClients(lab: Lab, count: number, times: number): Promise<Row> {
  const options = { dataDir: lab.path(`clients-${count}`), port: await freePort(), args: ['--no-agent'] }
  const plane = await startPlane(lab, options)
  const clients = new RestClients(plane, count)
  const starts = new Starts()
  for (let time = 0; time < times; time += 1) {
    await sleep(SETTLE_MS)
    await lab.killAll()
    starts.note(await startOnce(lab, options))
    lab.say(`restart under ${count} clients: ${starts.text()}`)
  }
  await lab.killAll()
  await clients.stop()
  return starts.row(`restart while ${count} REST clients ask`)
}

/** Stops the launcher (SIGSTOP) while clients make the runtime log. */
export async function measureStoppedLauncher(lab: Lab): Promise<Row[]> {
  const count = 16
  const stoppedMs = lab.count(STOPPED_MS, 15_000)
  const plane = await startPlane(lab, { dataDir: lab.path('stopped'), port: await freePort(), args: ['--no-agent'] })
  const clients = new RestClients(plane, count)
  await sleep(SETTLE_MS)
  plane.program.signal('SIGSTOP')
  let healthy = 0
  let silent = 0
  for (const until = performance.now() + stoppedMs; performance.now() < until; await sleep(1_000)) {
    if (await isHealthy(plane.options.port)) healthy += 1
    else silent += 1
  }
  plane.program.signal('SIGCONT')
  const resumedAt = performance.now()
  const isBack = await within(START_LIMIT_MS, () => isHealthy(plane.options.port))
  const took = performance.now() - resumedAt
  await lab.killAll()
  await clients.stop()
  const faults = [silent > 0 ? `${silent} looks without an answer` : '', isBack ? '' : 'stays away after SIGCONT'].filter(Boolean)
  return [
    {
      what: `launcher stopped (SIGSTOP) for ${stoppedMs / 1000} s while ${count} clients ask`,
      tried: `${healthy + silent} looks at /healthz, ${clients.answered} answers`,
      wrong: { count: silent + (isBack ? 0 : 1), note: faults.join(', ') },
      recovered: isBack ? `${seconds(took)} after SIGCONT` : 'never',
    },
  ]
}
