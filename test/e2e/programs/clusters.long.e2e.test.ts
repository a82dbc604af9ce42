import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ApiBody, type ApiClient, ApiError, createApiClient } from '../../../src/client/client.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { clusterImage } from '../support/agent/cluster-image.ts'
import { BUILD_TIMEOUT_MS } from '../support/agent/worker-image.ts'
import { MachineRow, type RowMachine } from '../support/machines/machine-row.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The examples of clusters on three machines, each with an engine and an agent of its own, through a real plane.

const START_MS = 90_000
/** Room for one member on each machine. */
const GPUS = 'NVIDIA L4:1'
const NODES = [0, 1, 2]

const row = new MachineRow()
let image: string
let plane: TestPlane
let api: ApiClient
let agents: TestAgent[] = []
let clusterId: string | undefined

beforeAll(async () => {
  image = await clusterImage()
  await row.start(NODES.length)
  plane = await startPlane({ args: ['--no-agent'] })
  api = createApiClient(plane.url, plane.apiKey)
  agents = await Promise.all(row.machines.map((machine, number) => startOn(machine, number)))
}, BUILD_TIMEOUT_MS)

afterEach(async () => {
  const id = clusterId
  clusterId = undefined
  if (id === undefined) return
  await api.deleteCluster({ path: { id } })
  await eventually(
    'nothing of the cluster is left',
    START_MS,
    async () => (await Promise.all(row.machines.map(containersOn))).join('') === '',
  )
})

afterAll(async () => {
  for (const agent of agents) await agent.stop()
  await plane?.stop()
  await row.close()
})

async function startOn(machine: RowMachine, number: number): Promise<TestAgent> {
  await machine.engine.load(image)
  await row.bring(plane.url, machine)
  const env = { DOCKER_HOST: machine.engine.address }
  return startAgent({ plane, name: `machine-${number}`, runtime: 'docker', simulateGpus: GPUS, env, within: machine.inside })
}

const containersOn = ({ engine }: RowMachine) => engine.docker('ps', '--all', '--quiet')

interface Member {
  id: string
  rank: number
  ip: string
  machine: RowMachine
  container: string
}

function noRoom(error: unknown): false {
  if (error instanceof ApiError && error.message.includes('no longer any instances')) return false
  throw error
}

/** The cluster of an example, with the image of the tests, once all its members run. Members by rank. */
async function runExample(name: string, cmd?: string[]): Promise<Member[]> {
  const example = readFileSync(join(PROJECT_ROOT, 'examples', name, 'cluster.json'), 'utf8')
  const body = { ...(JSON.parse(example) as ApiBody<'createCluster'>), image, ...(cmd && { cmd }) }
  // Hosts release capacity a moment after the last container of the previous cluster has ended.
  const { id } = await eventually('there is room', START_MS, () => api.createCluster({ body }).catch(noRoom))
  clusterId = id
  const list = () => api.listClusterPods({ path: { id } })
  const { pods } = await eventually('all members run', START_MS, async () => {
    const found = await list()
    return found.pods.every(({ status }) => status === 'RUNNING') && found
  }).catch(async (error: Error) => {
    const said = (await list()).pods.map(({ name: pod, status, statusReason }) => `${pod}: ${status} ${statusReason}`)
    throw new Error([error.message, ...said, ...agents.map((agent) => agent.output().slice(-2_000))].join('\n'))
  })
  const members = await Promise.all(pods.map(memberOf))
  return members.toSorted((a, b) => a.rank - b.rank)
}

async function memberOf({
  id,
  cluster,
}: {
  id: string
  cluster?: { rank: number | null; ip?: string | undefined } | undefined
}): Promise<Member> {
  for (const machine of row.machines) {
    const listed = await machine.engine.docker(
      'ps',
      '--filter',
      `label=podplane.workload`,
      '--format',
      '{{.ID}} {{.Label "podplane.workload"}}',
    )
    const container = listed.split('\n').find((line) => line.split(' ')[1]?.startsWith(`${id}-`))
    if (container !== undefined)
      return { id, rank: cluster?.rank ?? -1, ip: cluster?.ip ?? '', machine, container: container.split(' ')[0] ?? '' }
  }
  throw new Error(`no machine runs pod ${id}`)
}

async function inside({ machine, container }: Member, ...command: string[]): Promise<string> {
  return await machine.engine.docker('exec', container, ...command).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await machine.engine.docker('logs', '--tail', '50', container)}`)
  })
}

/** Waits for a line with this text in a member's log. */
async function says({ id }: Member, text: string): Promise<void> {
  const heard: string[] = []
  const patience = AbortSignal.timeout(START_MS)
  const log = api.getPodLogs({ path: { id }, query: { tail: 5_000 } }, { signal: patience })
  try {
    for await (const { data } of log) {
      const { line } = JSON.parse(data) as { line: string }
      heard.push(line)
      if (line.includes(text)) return
    }
  } catch (error) {
    if (!patience.aborted) throw error
  }
  throw new Error(`pod ${id} did not say '${text}', but\n${heard.slice(-20).join('\n')}`)
}

test('[CLU-10] APPLICATION: members are on three machines, and resolve each other by name', async () => {
  const members = await runExample('cluster-application', ['busybox', 'sh', '-c', 'busybox --install -s; exec sh /serve.sh'])
  expect(new Set(members.map(({ machine }) => machine.address)).size).toBe(3)
  const [first] = members as [Member, ...Member[]]
  for (const rank of NODES) await says(first, `node-${rank}: rank ${rank} of 3`)
})

test('[ENV-3] TRAINING: three nodes average their gradients with nothing but the environment of a member', async () => {
  for (const member of await runExample('cluster-training', ['python3', '-u', '/train.py'])) {
    await says(member, `rank ${member.rank} of 3: y = 3.00 x + 1.00`)
  }
})

test('[CLU-9] SLURM: all nodes are idle, and a job runs on each', async () => {
  const [controller] = (await runExample('cluster-slurm', ['sh', '/start.sh'])) as [Member]
  await eventually('three nodes are idle', START_MS, async () => {
    const state = await inside(controller, 'sinfo', '--noheader', '--format', '%D %t').catch(() => '')
    return state.trim() === '3 idle'
  })
  const names = await inside(controller, 'srun', '-N3', 'hostname')
  expect(names.split('\n').toSorted()).toEqual(['node-0', 'node-1', 'node-2'])
})

test('[CLU-9] RAY: tasks run on every node, each with its address in the private network', async () => {
  const members = await runExample('cluster-ray', ['podplane-ray'])
  const [head] = members as [Member]
  const found = await inside(head, 'python3', '/task.py')
  expect(
    found
      .split('\n')
      .flatMap((line) => /^10\.[\d.]+/.exec(line)?.[0] ?? [])
      .toSorted(),
  ).toEqual(members.map(({ ip }) => ip).toSorted())
})
