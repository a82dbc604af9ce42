import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiClient, ApiError, createApiClient } from '../../../src/client/client.ts'
import { realTime } from '../../support/time.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { MachineRow, type RowMachine } from '../support/machines/machine-row.ts'
import { killPlane } from '../support/plane/kill-plane.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The outcome for a cluster when the plane or a host is killed with SIGKILL while it is provisioned. Three machines, and a real plane.

const GPU = 'NVIDIA L4'
const GPUS_EACH = 6
const MEMBERS = 3
/** Timeout for a loaded machine. */
const LONG_MS = 120_000
/** Long enough for a create to be under way, and shorter than a create takes. */
const EARLY_MS = 25
const ENV = { PLACEMENT: 'spread', HOST_LOST_AFTER_MS: '30000' }
const IDLE = JSON.stringify({ entrypoint: ['/bin/busybox', 'sh', '-c'], cmd: ['trap "exit 0" TERM; while :; do busybox sleep 0.1; done'] })

const row = new MachineRow()
let plane: TestPlane
let api: ApiClient
let operator: ApiClient
let agents: TestAgent[] = []
let image: string
let count = 0

beforeAll(async () => {
  const [started, made] = await Promise.all([startPlane({ args: ['--no-agent'], env: ENV }), busyboxImage(), row.start(3)])
  image = made
  connect(started)
  await Promise.all(row.machines.map(({ engine }) => engine.load(image)))
  agents = await Promise.all(row.machines.map((machine, at) => join(machine, at)))
}, LONG_MS)

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  await plane?.stop()
  await row.close()
}, LONG_MS)

function connect(started: TestPlane): void {
  plane = started
  api = createApiClient(plane.url, plane.apiKey)
  operator = createApiClient(plane.url, plane.operatorKey)
}

async function join(machine: RowMachine, at: number, stateDir?: string): Promise<TestAgent> {
  if (stateDir === undefined) await row.bring(plane.url, machine)
  const env = { DOCKER_HOST: machine.engine.address }
  const own = { plane, name: `machine-${at}`, runtime: 'docker', simulateGpus: `${GPU}:${GPUS_EACH}`, env, within: machine.inside }
  return await startAgent({ ...own, onExit: 'keep', ...(stateDir !== undefined && { stateDir }) })
}

async function killAndRestartPlane(): Promise<void> {
  await killPlane(plane)
  connect(await plane.restart())
}

/** A name of its own identifies a cluster whose create was never answered. */
function create(): { name: string; answer: Promise<string | null> } {
  count += 1
  const name = `crash-${count}`
  const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: MEMBERS }
  const made = api.createCluster({ body: { name, type: 'APPLICATION', image, args: IDLE, compute } })
  // The plane may be killed before it answers.
  return { name, answer: made.then(({ id }) => id).catch(() => null) }
}

async function statuses(id: string): Promise<string[]> {
  return (await api.listClusterPods({ path: { id } })).pods.map(({ status }) => status)
}

const containers = async () =>
  (await Promise.all(row.machines.map(({ engine }) => engine.docker('ps', '--all', '--format', '{{.Names}}')))).join('\n')

/** Every pair of machines, or none, lets tunnels pass. */
async function wall(action: 'build' | 'remove'): Promise<void> {
  const [first] = row.machines as [RowMachine]
  if (action === 'remove') return void (await row.run(first, 'nft', 'delete table inet wall'))
  const rule = 'type filter hook input priority -50; policy accept; udp dport { 4789, 51821 } drop'
  await row.run(first, 'nft', `table inet wall { chain in { ${rule}\n }\n }`)
}

/** Waits for the outcome of a create: all members run, or the cluster does not exist. */
async function outcomeOf(name: string): Promise<'runs' | 'gone'> {
  const [found] = (await api.listClusters({})).clusters.filter((one) => one.name === name)
  if (found === undefined) return 'gone'
  await eventually(`all members of ${name} run`, LONG_MS, async () => {
    const all = await statuses(found.id)
    return all.length === MEMBERS && all.every((status) => status === 'RUNNING')
  }).catch(async (error: Error) => {
    const { pods } = await api.listClusterPods({ path: { id: found.id } })
    throw new Error(
      `${error.message}\n${pods.map((pod) => `${pod.name} ${pod.status} ${pod.statusReason}`).join('\n')}\n${await containers()}`,
    )
  })
  return 'runs'
}

/** No cluster leaves anything behind, neither on a machine nor in the reservations. */
async function expectNothingLeft(): Promise<void> {
  for (const { id } of (await api.listClusters({})).clusters) await api.deleteCluster({ path: { id } }).catch(ifGone)
  const free = async () => (await operator.listHosts({})).hosts.flatMap(({ gpus }) => gpus.map((gpu) => gpu.free))
  await eventually('all GPUs are free', LONG_MS, async () => (await free()).every((one) => one === GPUS_EACH)).catch(
    async (error: Error) => {
      throw new Error(`${error.message}: ${await free()}\n${await containers()}`)
    },
  )
  await eventually('no container is left', LONG_MS, async () => (await containers()).trim() === '')
}

function ifGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}

test('[CLU-13] [CLU-22] the plane is killed while a create is under way: the cluster runs, or never existed', {
  timeout: 4 * LONG_MS,
}, async () => {
  const { name, answer } = create()
  await realTime(EARLY_MS, 'the create is to be under way when the plane is killed')
  await killAndRestartPlane()
  const id = await answer
  const outcome = await outcomeOf(name)
  if (id !== null) expect(outcome).toBe('runs')
  await expectNothingLeft()
})

test('[CLU-22] the plane is killed right after its answer: all members run', { timeout: 4 * LONG_MS }, async () => {
  const { name, answer } = create()
  expect(await answer).not.toBeNull()
  await killAndRestartPlane()
  expect(await outcomeOf(name)).toBe('runs')
  await expectNothingLeft()
})

test('[CLU-14] [CLU-22] the plane is killed while members wait for one another: they start together afterwards', {
  timeout: 4 * LONG_MS,
}, async () => {
  await wall('build')
  const { name, answer } = create()
  expect(await answer).not.toBeNull()
  await eventually(
    'every machine holds the network of a member',
    LONG_MS,
    async () => (await containers()).match(/\.net$/gm)?.length === MEMBERS,
  )
  await killAndRestartPlane()
  await wall('remove')
  expect(await outcomeOf(name)).toBe('runs')
  await expectNothingLeft()
})

test('[CLU-22] the plane is killed when the first member runs: the others follow', { timeout: 4 * LONG_MS }, async () => {
  const { name, answer } = create()
  const id = (await answer) ?? ''
  await eventually('a member runs', LONG_MS, async () => (await statuses(id)).includes('RUNNING'))
  await killAndRestartPlane()
  expect(await outcomeOf(name)).toBe('runs')
  await expectNothingLeft()
})

test('[CLU-19] [CLU-22] the plane is killed after a delete in the middle of provisioning: nothing is left', {
  timeout: 4 * LONG_MS,
}, async () => {
  const { name, answer } = create()
  const id = (await answer) ?? ''
  await eventually('a machine holds the network of a member', LONG_MS, async () => (await containers()).includes('.net'))
  await api.deleteCluster({ path: { id } })
  await killAndRestartPlane()
  expect(await outcomeOf(name)).toBe('gone')
  await expectNothingLeft()
})

test('[CLU-18] a host is killed while members wait for one another: its member starts elsewhere under its rank', {
  timeout: 4 * LONG_MS,
}, async () => {
  await wall('build')
  const { name, answer } = create()
  const id = (await answer) ?? ''
  await eventually(
    'every machine holds the network of a member',
    LONG_MS,
    async () => (await containers()).match(/\.net$/gm)?.length === MEMBERS,
  )
  const before = (await api.listClusterPods({ path: { id } })).pods
  const [lost] = agents.splice(2, 1) as [TestAgent]
  await lost.kill('SIGKILL')
  await row.run(row.machines[2] as RowMachine, 'ip', 'link', 'set', 'net0', 'down')
  await wall('remove')
  expect(await outcomeOf(name)).toBe('runs')
  const after = (await api.listClusterPods({ path: { id } })).pods
  const ranks = (pods: typeof after) => pods.map((pod) => `${pod.id} ${pod.cluster?.rank} ${pod.cluster?.ip}`)
  expect(ranks(after)).toEqual(ranks(before))

  // The containers of that host are gone once it is back.
  await row.run(row.machines[2] as RowMachine, 'ip', 'link', 'set', 'net0', 'up')
  agents.push(await join(row.machines[2] as RowMachine, 2, lost.stateDir))
  await expectNothingLeft()
})
