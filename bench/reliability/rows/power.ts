import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAgent, waitOnline } from '../support/agent.ts'
import { Disk } from '../support/disk.ts'
import { type Lab, signalPid } from '../support/lab.ts'
import { Load } from '../support/load.ts'
import {
  createQueue,
  freePort,
  launchPlane,
  must,
  type Plane,
  type PlaneOptions,
  readyPlane,
  startPlane,
  stopPlane,
} from '../support/plane.ts'
import { type Row, seconds, span } from '../support/report.ts'

const DISK_MB = 512
const CLIENTS = 8
/** A host links within seconds; a machine under load needs longer. */
const ONLINE_LIMIT_MS = 40_000

/** Cuts the power while jobs are submitted. */
export async function measurePowerCuts(lab: Lab): Promise<Row[]> {
  const disk = new Disk(lab, 'submits', DISK_MB)
  const options = { dataDir: `${disk.mountPoint}/data`, port: await freePort(), args: ['--no-agent'] }
  let plane = await startPlane(lab, options)
  // The first start is a row of its own, so it is completed here before the cuts.
  await stopPlane(lab, plane)
  disk.sync()
  plane = await startPlane(lab, options)
  const endpointId = await createQueue(plane)
  const totals = { cuts: 0, acknowledged: 0, lost: 0, wrong: 0, took: [] as number[] }
  for (const cuts = lab.count(8, 2); totals.cuts < cuts; totals.cuts += 1) {
    const load = new Load(lab, plane, endpointId, { clients: CLIENTS, timeoutMs: 2_000 }).start()
    await sleep(randomInt(3_000, 6_000))
    stopAll(lab)
    const promised = [...load.acknowledged.keys()]
    await cut(lab, disk)
    const next = await startAgain(lab, options)
    await load.stop()
    if (next === undefined) {
      totals.wrong += 1
      break
    }
    plane = next
    const { lost, errors } = await load.lookUp(plane, promised)
    totals.acknowledged += promised.length
    totals.lost += lost
    totals.wrong += [...errors.values()].reduce((sum, count) => sum + count, 0)
    totals.took.push(plane.readyMs)
    lab.say(`cut ${totals.cuts + 1}: ${promised.length} acknowledged, ${lost} lost`)
  }
  return [
    {
      what: 'power cuts (ext4 as it was on disk at the cut), submits only',
      tried: `${totals.cuts} cuts, ${totals.acknowledged} acknowledged`,
      lost: totals.lost,
      wrong: { count: totals.wrong },
      recovered: span(totals.took),
    },
  ]
}

/** Cuts the power a few seconds after a plane was started for the first time. */
export async function measureFirstStart(lab: Lab): Promise<Row[]> {
  const afterMs = lab.isShort ? [5_000] : [5_000, 10_000, 15_000]
  const reasons = new Set<string>()
  const took: number[] = []
  for (const [index, ms] of afterMs.entries()) {
    const disk = new Disk(lab, `first-${index}`, DISK_MB)
    const options = { dataDir: `${disk.mountPoint}/data`, port: await freePort(), args: ['--no-agent'] }
    const plane = await startPlane(lab, options)
    await sleep(ms)
    stopAll(lab)
    await cut(lab, disk)
    const program = launchPlane(lab, options)
    const next = await readyPlane(program, options)
    const keyWorks =
      next !== undefined && (await must(next.url, plane.operatorKey, 'GET', '/admin/v1/users').catch(() => undefined)) !== undefined
    if (next !== undefined && keyWorks) took.push(next.readyMs)
    else reasons.add(next === undefined ? lastLine(program.output()) : 'the operator key that was handed out is void')
    await lab.killAll()
    lab.say(`first start, cut ${seconds(ms)} after it was ready: ${keyWorks ? 'recovered' : [...reasons].at(-1)}`)
  }
  const lost = afterMs.length - took.length
  return [
    {
      what: 'power cut 5–15 s after a first start',
      tried: String(afterMs.length),
      lost,
      wrong: { count: 0, note: [...reasons].join('; ') },
      recovered: lost > 0 ? `${took.length} of ${afterMs.length}` : span(took),
    },
  ]
}

/** Cuts the power of a host a few seconds after its agent has joined; the plane runs elsewhere. */
export async function measureJoin(lab: Lab): Promise<Row[]> {
  const plane = await startPlane(lab, { dataDir: lab.path('plane'), port: await freePort(), args: ['--no-agent'] })
  const reasons = new Set<string>()
  const took: number[] = []
  const times = lab.count(3, 1)
  for (let time = 0; time < times; time += 1) {
    const disk = new Disk(lab, `host-${time}`, DISK_MB)
    const name = `joins-${time}`
    const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name })
    const options = { name, stateDir: `${disk.mountPoint}/agent`, token: String(token) }
    const agent = startAgent(lab, plane.url, options)
    if ((await waitOnline(plane, name, Date.now(), ONLINE_LIMIT_MS)) === undefined) throw new Error(agent.output().slice(-600))
    await sleep(5_000)
    const pids = lab.agents().map(({ pid }) => pid)
    for (const pid of pids) signalPid(pid, 'SIGSTOP')
    await disk.cutPower(async () => {
      for (const pid of pids) signalPid(pid, 'SIGKILL')
      await agent.ended
    })
    // A service restarts the agent with the same command, join token included.
    const restartedAt = Date.now()
    const again = startAgent(lab, plane.url, options)
    const online = await waitOnline(plane, name, restartedAt + 1_000, ONLINE_LIMIT_MS, again)
    if (online) took.push(Date.now() - restartedAt)
    else reasons.add(lastLine(again.output()))
    again.signal('SIGKILL')
    await again.ended
    lab.say(`join, cut 5 s later: ${online ? 'recovered' : lastLine(again.output())}`)
  }
  const lost = times - took.length
  return [
    {
      what: 'power cut about 5 s after an agent has joined',
      tried: String(times),
      lost,
      wrong: { count: 0, note: [...reasons].join('; ') },
      recovered: lost > 0 ? `${took.length} of ${times}` : span(took),
    },
  ]
}

function stopAll(lab: Lab): void {
  for (const { pid } of lab.processes()) signalPid(pid, 'SIGSTOP')
}

async function cut(lab: Lab, disk: Disk): Promise<void> {
  await disk.cutPower(() => lab.killAll())
}

async function startAgain(lab: Lab, options: PlaneOptions): Promise<Plane | undefined> {
  return await readyPlane(launchPlane(lab, options), options)
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
}
