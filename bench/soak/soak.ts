import { setTimeout as sleep } from 'node:timers/promises'
import { startAgent, waitOnline } from '../reliability/support/agent.ts'
import { type Lab, within } from '../reliability/support/lab.ts'
import { createProbe, freePort, must, type Plane, startPlane } from '../reliability/support/plane.ts'
import { Receiver } from '../reliability/support/receiver.ts'
import { agentFamily, type Place, planeFamily, readFiles } from './files.ts'
import { median } from './judge.ts'
import { MixedLoad } from './load.ts'
import { readProcess } from './processes.ts'
import { Readings } from './readings.ts'

const NAME = 'soak'
const ONLINE_LIMIT_MS = 60_000
const WEBHOOK_LIMIT_MS = 60_000
const SAMPLE_MS = 10_000
const POD_PAUSE_MS = 30_000
/** A short run has at least this many samples and this many pods. */
const SAMPLES = 60
const PODS = 20

export interface SoakOptions {
  runMs: number
  jobsPerSecond: number
  /** Ends the run before its time. */
  signal: AbortSignal
}

/** The measurements of a run. */
export interface Soaked {
  readings: Readings
  load: MixedLoad
  hooks: { missing: number; doubled: number; repeats: number }
  doubledInputs: number
  ranMs: number
  /** Median time of one sample, during which the clients of the load wait. */
  sampleMs: number
  /** Programs that have ended by themselves. */
  ended: string[]
}

/** Starts a plane and an agent, and samples them under load. */
export async function soak(lab: Lab, options: SoakOptions): Promise<Soaked> {
  const receiver = await Receiver.open(lab)
  const [dataDir, stateDir] = [lab.path('plane'), lab.path('agent')]
  const places = [
    { directory: dataDir, familyOf: planeFamily },
    { directory: stateDir, familyOf: agentFamily },
  ]
  const plane = await startPlane(lab, { dataDir, port: await freePort(), args: ['--no-agent'] })
  const agent = await startHost(lab, plane, stateDir)
  const endpointId = await createProbe(plane, { min: 2, max: 2 })
  const runtime = lab.runtimes()[0]?.pid
  if (runtime === undefined) throw new Error('the runtime does not run')
  const { runMs, jobsPerSecond } = options
  const load = new MixedLoad(lab, plane, endpointId, {
    jobsPerSecond,
    webhook: receiver.url,
    podPauseMs: Math.min(POD_PAUSE_MS, runMs / PODS),
  }).start()
  const pids = { launcher: plane.program.pid, runtime, agent }
  const sampled = await sampleAll(lab, load, pids, places, options)
  lab.say(`the load ends; waiting for ${load.acknowledged.length - load.counts.ended} jobs and their webhooks`)
  await load.stop()
  await within(WEBHOOK_LIMIT_MS, () => receiver.judge(load.acknowledged).missing === 0)
  return { ...sampled, load, hooks: receiver.judge(load.acknowledged), doubledInputs: receiver.doubledInputs() }
}

/** Returns the process id of an agent that is online. */
async function startHost(lab: Lab, plane: Plane, stateDir: string): Promise<number> {
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name: NAME })
  const agent = startAgent(lab, plane.url, { name: NAME, stateDir, token: String(token) })
  if ((await waitOnline(plane, NAME, Date.now(), ONLINE_LIMIT_MS)) === undefined) throw new Error(agent.output().slice(-600))
  return agent.pid
}

async function sampleAll(
  lab: Lab,
  load: MixedLoad,
  pids: Readonly<Record<string, number>>,
  places: readonly Place[],
  { runMs, signal }: SoakOptions,
): Promise<Pick<Soaked, 'readings' | 'ranMs' | 'sampleMs' | 'ended'>> {
  const readings = new Readings()
  const startedAt = performance.now()
  const everyMs = Math.min(SAMPLE_MS, runMs / SAMPLES)
  const ended: string[] = []
  const took: number[] = []
  for (let dueMs = everyMs; dueMs <= runMs && ended.length === 0; dueMs += everyMs) {
    await sleep(Math.max(0, startedAt + dueMs - performance.now()), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    const atMs = performance.now() - startedAt
    for (const [name, pid] of Object.entries(pids)) {
      const read = readProcess(name, pid)
      if (read === undefined) ended.push(name)
      else readings.add(atMs, read)
    }
    readFiles(readings, atMs, places)
    readings.add(atMs, load.takeLatencies())
    took.push(performance.now() - startedAt - atMs)
    if (Math.round(dueMs / everyMs) % 6 === 0) {
      lab.say(
        `${Math.round(atMs / 1000)} s: ${load.acknowledged.length} jobs acknowledged, ${load.counts.ended} ended, ${load.counts.pods} pods`,
      )
    }
  }
  return { readings, ranMs: performance.now() - startedAt, sampleMs: median(took), ended }
}
