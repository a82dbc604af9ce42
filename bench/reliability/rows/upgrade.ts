import { type Lab, signalPid, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { call, createProbe, type Demo, freePort, GPU_ARGS, must, type Plane, type PlaneOptions, startPlane } from '../support/plane.ts'
import { Receiver } from '../support/receiver.ts'
import { previousRelease } from '../support/release.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const LONG = 1_000
const DONE = 20
const QUEUED = 30
const LONG_JOB_MS = 25_000
const SHORT_JOB_MS = 200
const FINISH_LIMIT_MS = 120_000
const KILL_LIMIT_MS = 5_000
const POD_LIMIT_MS = 30_000
const WEBHOOK_LIMIT_MS = 60_000

/** Upgrades a directory of the previous release, whose plane was killed, to this release, and downgrades it again. */
export async function measureUpgrade(lab: Lab): Promise<Row[]> {
  const receiver = await Receiver.open(lab)
  const options = { dataDir: lab.path('data'), port: await freePort(), args: GPU_ARGS }
  const previous: PlaneOptions = { ...options, cwd: previousRelease(lab) }
  const before = await startPlane(lab, previous)
  const endpointId = await createProbe(before, { min: 2, max: 2 })
  const things = await createThings(before)
  const load = new Load(lab, before, endpointId, { clients: 1, sleepMs: SHORT_JOB_MS, webhook: receiver.url })
  const long = new Load(lab, before, endpointId, { clients: 1, sleepMs: LONG_JOB_MS, webhook: receiver.url, firstNumber: LONG })
  await long.submit(LONG)
  await long.running(1)
  // A webhook has three attempts 10 s apart; these deliveries wait for their second one.
  receiver.isClosed = true
  for (let number = 0; number < DONE; number += 1) await load.submit(number)
  await load.waitForEnds(FINISH_LIMIT_MS)
  for (let number = DONE; number < DONE + QUEUED; number += 1) await load.submit(number)

  await killUnderAgent(lab, before)
  receiver.isClosed = false
  const after = await startPlane(lab, options)
  const row = await judge(lab, { plane: after, loads: [load, long], things, receiver })
  const [id] = [...long.acknowledged.keys()]
  const { body } = await call(after.url, after.apiKey, 'GET', `/v2/${endpointId}/status/${id}`)
  const upgrade = {
    what: 'upgrade e56d68b → this release after SIGKILL, live agent',
    tried: `${DONE} done, ${QUEUED} queued, 1 running, 2 accounts, pod, volume, template, credential, ${DONE} webhooks pending`,
    ...row,
    recovered: `${seconds(after.readyMs)}; running job ended by ${Number(body.retries ?? 0) === 0 ? 'the adopted worker' : 'another worker'}`,
  }
  await killUnderAgent(lab, after)
  return [upgrade, await downgrade(lab, previous, { loads: [load, long], endpointId, things, receiver })]
}

/** Kills plane and runtime only: agent and workers run on until the next start, whereas an ordered stop would stop the agent's pods. */
async function killUnderAgent(lab: Lab, plane: Plane): Promise<void> {
  for (const { pid } of [{ pid: plane.program.pid }, ...lab.runtimes()]) signalPid(pid, 'SIGKILL')
  await within(KILL_LIMIT_MS, () => !plane.program.isRunning() && lab.runtimes().length === 0)
}

async function downgrade(
  lab: Lab,
  previous: PlaneOptions,
  { loads, endpointId, things, receiver }: { loads: Load[]; endpointId: string; things: Things; receiver: Receiver },
): Promise<Row> {
  const plane = await startPlane(lab, previous)
  const more = new Load(lab, plane, endpointId, { clients: 1, sleepMs: SHORT_JOB_MS, webhook: receiver.url, firstNumber: 2 * LONG })
  for (let number = 2 * LONG; number < 2 * LONG + DONE; number += 1) await more.submit(number)
  const pod = await createPod(plane, 'later')
  const isRunning = await waitRunning(plane, pod)
  const row = await judge(lab, { plane, loads: [...loads, more], things, receiver })
  return {
    what: 'downgrade to e56d68b on the migrated directory',
    tried: `${DONE} new jobs, 1 new pod, all of before`,
    ...row,
    wrong: faultsOf(row.wrong, { 'a new pod does not run': !isRunning }),
    recovered: seconds(plane.readyMs),
  }
}

/** Paths of the created resources, and the key of a second account with its endpoint. */
interface Things {
  paths: string[]
  pod: string
  other: Demo
}

async function createThings(plane: Plane): Promise<Things> {
  const create = async (path: string, body: unknown) => `${path}/${String((await must(plane.url, plane.apiKey, 'POST', path, body)).id)}`
  const pod = await createPod(plane, 'box')
  if (!(await waitRunning(plane, pod))) throw new Error('the pod does not run')
  const { dataCenterId } = await must(plane.url, plane.apiKey, 'GET', pod)
  const paths = [
    await create('/v2/templates', { name: 'template', image: 'builtin/idle' }),
    await create('/v2/registries', { name: 'credential', username: 'name', password: 'secret' }),
    await create('/v2/network-volumes', { name: 'volume', size: 10, dataCenter: dataCenterId }),
  ]
  const user = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/users', { email: 'other@example.com' })
  const { key } = await must(plane.url, plane.operatorKey, 'POST', `/admin/v1/users/${String(user.id)}/keys`, { name: 'other' })
  const other = { ...plane, apiKey: String(key) }
  const endpointId = await createProbe(other, { min: 0, max: 1 })
  return { paths, pod, other: { ...other, endpointId } }
}

async function createPod(plane: Demo, name: string): Promise<string> {
  const pod = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name, image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  return `/v2/pods/${String(pod.id)}`
}

async function waitRunning(plane: Demo, pod: string): Promise<boolean> {
  const probe = async () => (await call(plane.url, plane.apiKey, 'GET', pod)).body.status === 'RUNNING'
  return (await within(POD_LIMIT_MS, probe)) === true
}

async function judge(
  lab: Lab,
  { plane, loads, things, receiver }: { plane: Plane; loads: readonly Load[]; things: Things; receiver: Receiver },
): Promise<Pick<Row, 'lost' | 'duplicated'> & { wrong: { count: number; note?: string } }> {
  const missing: string[] = []
  for (const path of things.paths) {
    const { status } = await call(plane.url, plane.apiKey, 'GET', path)
    if (status !== 200) missing.push(`${path} ${status}`)
  }
  const other = await call(plane.url, things.other.apiKey, 'GET', `/v2/serverless/${things.other.endpointId}`)
  if (other.status !== 200) missing.push(`the second account: ${other.status}`)
  const podRuns = await waitRunning(plane, things.pod)
  const outcomes = []
  for (const load of loads) outcomes.push(await load.waitForEnds(FINISH_LIMIT_MS))
  const ids = loads.flatMap((load) => [...load.acknowledged.keys()])
  const startedAt = performance.now()
  await within(WEBHOOK_LIMIT_MS, () => receiver.judge(ids).missing === 0, 500)
  const hooks = receiver.judge(ids)
  lab.say(`${ids.length - hooks.missing} of ${ids.length} webhooks, the last after ${seconds(performance.now() - startedAt)}`)
  const wrongs = outcomes.map(wrongOf)
  return {
    lost: outcomes.reduce((sum, { lost }) => sum + lost, 0) + missing.length + hooks.missing,
    duplicated: receiver.doubledInputs() + hooks.doubled,
    wrong: faultsOf(
      {
        count: wrongs.reduce((sum, { count }) => sum + count, 0),
        note: [...wrongs.map(({ note }) => note), ...missing].filter(Boolean).join('; '),
      },
      { 'the pod does not run': !podRuns },
      hooks.missing > 0 ? `${hooks.missing} webhooks are missing` : '',
    ),
  }
}
