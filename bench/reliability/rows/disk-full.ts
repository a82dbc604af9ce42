import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentService, startAgent, waitOnline } from '../support/agent.ts'
import { Disk, fillDisk, removeFill } from '../support/disk.ts'
import { type Lab, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import {
  call,
  createProbe,
  createQueue,
  freePort,
  launchPlane,
  must,
  readiness,
  readyPlane,
  startPlane,
  stopPlane,
} from '../support/plane.ts'
import { type Row, seconds } from '../support/report.ts'

const DISK_MB = 128
const CLIENTS = 4
const FULL_MS = 15_000
const BACK_LIMIT_MS = 60_000
const JOBS = 8

/** Fills the disk below the data directory while jobs are submitted, then frees it. */
export async function measureDiskFullPlane(lab: Lab): Promise<Row[]> {
  const disk = new Disk(lab, 'full', DISK_MB)
  const options = { dataDir: join(disk.mountPoint, 'data'), port: await freePort(), args: ['--no-agent'] }
  const plane = await startPlane(lab, options)
  const load = new Load(lab, plane, await createQueue(plane), { clients: CLIENTS, pauseMs: 20, timeoutMs: 3_000 }).start()
  await sleep(5_000)
  load.answers.clear()
  const fill = join(disk.mountPoint, 'fill')
  fillDisk(disk, fill)
  await sleep(FULL_MS)
  // Pages that were free inside the databases may be used meanwhile, so the disk is filled again.
  fillDisk(disk, `${fill}.more`)
  await sleep(FULL_MS)
  const whileFull = load.answersText()
  const read = await call(plane.url, plane.apiKey, 'GET', '/v2/serverless', undefined, { timeoutMs: 5_000 })
  const ready = await readiness(plane)
  const survives = plane.program.isRunning() && lab.runtimes().length > 0
  lab.say(`full: ${whileFull}; reads ${read.status}; /readyz ${ready}; ${survives ? 'runs' : 'has ended'}`)
  removeFill(fill)
  const before = load.acknowledged.size
  const freedAt = performance.now()
  const isBack = await within(BACK_LIMIT_MS, () => load.acknowledged.size > before + CLIENTS)
  const tookMs = performance.now() - freedAt
  await load.stop()
  if (!isBack) await lab.killAll()
  const again = isBack ? plane : await readyPlane(launchPlane(lab, options), options)
  const { lost, errors } = again ? await load.lookUp(again) : { lost: load.acknowledged.size, errors: new Map<number, number>() }
  const faults = [
    survives ? '' : 'the plane ends',
    isBack ? '' : 'it stays down when there is room again',
    load.answers.has(500) ? '500 instead of 503' : '',
    read.status === 200 ? '' : `reads ${read.status || 'not answered'}`,
    ready === '503' ? '' : `/readyz ${ready}`,
    errors.size > 0 ? `${[...errors.keys()].join(', ')} for status` : '',
  ].filter(Boolean)
  return [
    {
      what: 'disk full, plane',
      tried: `${load.acknowledged.size} acknowledged; while full: ${whileFull}`,
      lost,
      wrong: { count: faults.length, note: faults.join('; ') },
      recovered: isBack ? `by itself, ${seconds(tookMs)}` : 'by hand only',
    },
  ]
}

/** Fills the disk of an agent while its jobs run. Meanwhile a pod is created, and the plane and the agent are killed. */
export async function measureDiskFullAgent(lab: Lab): Promise<Row[]> {
  const disk = new Disk(lab, 'host', DISK_MB)
  const planeOptions = { dataDir: lab.path('plane'), port: await freePort(), args: ['--no-agent'] }
  let plane = await startPlane(lab, planeOptions)
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name: 'full' })
  const options = { name: 'full', stateDir: join(disk.mountPoint, 'agent'), token: String(token) }
  const agent = startAgent(lab, plane.url, options)
  if ((await waitOnline(plane, 'full', Date.now(), BACK_LIMIT_MS)) === undefined) throw new Error(agent.output().slice(-600))
  const endpointId = await createProbe(plane)
  const load = new Load(lab, plane, endpointId, { clients: 1, sleepMs: 5_000 })
  for (let number = 0; number < JOBS; number += 1) await load.submit(number)
  await load.running(2)
  const fill = join(disk.mountPoint, 'fill')
  fillDisk(disk, fill)
  const pod = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name: 'box', image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  await stopPlane(lab, plane)
  agent.signal('SIGKILL')
  await agent.ended
  plane = await startPlane(lab, planeOptions)
  const service = new AgentService(lab, plane.url, options)
  await sleep(10_000)
  removeFill(fill)
  const freedAt = Date.now()
  const host = await waitOnline(plane, 'full', freedAt, BACK_LIMIT_MS)
  const outcome = await load.waitForEnds(BACK_LIMIT_MS * 2)
  const podStatus = await within(BACK_LIMIT_MS, async () => {
    const { body } = await call(plane.url, plane.apiKey, 'GET', `/v2/pods/${String(pod.id)}`)
    return body.status === 'RUNNING' && 'RUNNING'
  })
  const wrong = wrongOf(outcome)
  const faults = [wrong.note, podStatus ? '' : 'the pod does not run'].filter(Boolean)
  return [
    {
      what: 'disk full, agent (results, a new pod, plane and agent killed meanwhile, start on the full disk)',
      tried: `${outcome.acknowledged} jobs, 1 pod`,
      lost: outcome.lost,
      duplicated: outcome.duplicated,
      wrong: { count: wrong.count + (podStatus ? 0 : 1), note: faults.join('; ') },
      recovered: host
        ? `by itself, after ${service.starts} starts of the agent, ${seconds(Date.now() - freedAt)} until all was at its end`
        : 'never',
    },
  ]
}
