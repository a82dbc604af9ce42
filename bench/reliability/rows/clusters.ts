import { busyboxImage } from '../../../test/e2e/support/agent/worker-image.ts'
import { MachineRow, type RowMachine } from '../../../test/e2e/support/machines/machine-row.ts'
import { startAgent, waitOnline } from '../support/agent.ts'
import { type Lab, within } from '../support/lab.ts'
import { call, freePort, must, type Plane, startPlane } from '../support/plane.ts'
import { type Row, span } from '../support/report.ts'

const MEMBERS = 4
const CLUSTER_MS = 60_000
const ONLINE_LIMIT_MS = 60_000
const NOTHING = JSON.stringify({ entrypoint: ['/bin/busybox', 'sh', '-c'], cmd: ['while :; do busybox sleep 1; done'] })
const FLAGS = ['--runtime', 'docker', '--local-images', '--trusted-tenants', '--on-exit', 'stop']

/** Repeats the first cluster of a fresh agent, on a separate engine without any image of the agent. */
export async function measureClusters(lab: Lab): Promise<Row[]> {
  const machines = new MachineRow()
  lab.defer(() => machines.close())
  const plane = await startPlane(lab, { dataDir: lab.path('plane'), port: await freePort(), args: ['--no-agent'] })
  const [image] = await Promise.all([busyboxImage(), machines.start(1)])
  const [machine] = machines.machines
  if (machine === undefined) throw new Error('there is no machine')
  await machine.engine.load(image)
  await machines.bring(plane.url, machine)
  const clusters = lab.count(50, 2)
  const took: number[] = []
  const faults = new Map<string, number>()
  for (let number = 0; number < clusters; number += 1) {
    const startedAt = performance.now()
    const found = await firstCluster(lab, plane, machine, { number, image })
    if (found.length === 0) took.push(performance.now() - startedAt)
    for (const fault of found) faults.set(fault, (faults.get(fault) ?? 0) + 1)
    lab.say(`cluster ${number + 1} of ${clusters}: ${found.join('; ') || 'all members run'}`)
  }
  return [
    {
      what: 'first clusters of fresh agents, every member runs',
      tried: `${clusters} clusters, ${clusters * MEMBERS} members`,
      wrong: {
        count: [...faults.values()].reduce((sum, count) => sum + count, 0),
        note: [...faults].map(([fault, count]) => `${count} × ${fault}`).join('; '),
      },
      recovered: `start of the agent to all members running: ${span(took)}`,
    },
  ]
}

/** Returns the faults of each member that does not run in time, and of the end of the cluster. */
async function firstCluster(
  lab: Lab,
  plane: Plane,
  { engine, inside }: RowMachine,
  { number, image }: { number: number; image: string },
): Promise<string[]> {
  const name = `fresh-${number}`
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name })
  const agent = startAgent(lab, plane.url, {
    name,
    stateDir: lab.path(name),
    token: String(token),
    flags: FLAGS,
    within: inside,
    env: { DOCKER_HOST: engine.address },
  })
  if ((await waitOnline(plane, name, Date.now(), ONLINE_LIMIT_MS, agent)) === undefined)
    return [`the agent is not online: ${agent.output().slice(-200)}`]
  const compute = { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: MEMBERS }
  const { id } = await must(plane.url, plane.apiKey, 'POST', '/v2/clusters', { name, type: 'APPLICATION', image, args: NOTHING, compute })
  const path = `/v2/clusters/${String(id)}`
  let members: { status: string; statusReason: string | null }[] = []
  await within(
    CLUSTER_MS,
    async () => {
      members = ((await call(plane.url, plane.apiKey, 'GET', `${path}/pods`)).body.pods ?? []) as typeof members
      return members.length === MEMBERS && members.every(({ status }) => status === 'RUNNING' || status === 'ERROR')
    },
    200,
  )
  const faults = members.filter(({ status }) => status !== 'RUNNING').map(({ status, statusReason }) => `${status} (${statusReason ?? ''})`)
  await call(plane.url, plane.apiKey, 'DELETE', path)
  agent.signal('SIGTERM')
  if ((await within(ONLINE_LIMIT_MS, () => !agent.isRunning())) === undefined) faults.push('the agent does not end')
  const left = await engine.docker('images', '--quiet', 'podplane-sandbox')
  if (left !== '') await engine.docker('rmi', '--force', ...left.split('\n'))
  return faults
}
