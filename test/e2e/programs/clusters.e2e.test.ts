import { afterAll, beforeAll, expect, test } from 'vitest'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { MachineRow, type RowMachine } from '../support/machines/machine-row.ts'
import { LogFollower } from '../support/plane/log-follower.ts'
import { callPlane, eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// Clusters and global networking through the public API alone: a real plane, and three machines with an engine and an agent each.

const GPU = 'NVIDIA L4'
const PORT = 7_000
const READY_MS = 60_000
/** Answers every connection with its own host name. */
const SERVE = `while :; do busybox nc -l -p ${PORT} -e /bin/busybox hostname; done`
/** The sum over the ranks, computed by rank 0 and sent to all, with only the environment that members receive. */
const SUM = `
exchange() { busybox nc -w 5 "$MASTER_ADDR" "$1"; }
if [ "$NODE_RANK" = 0 ]; then
  sum=0
  for other in $(busybox seq 2 "$NUM_NODES"); do sum=$((sum + $(busybox nc -l -p "$MASTER_PORT"))); done
  echo "sum $sum"
  for other in $(busybox seq 2 "$NUM_NODES"); do echo "sum $sum" | busybox nc -l -p $((MASTER_PORT + 1)); done
else
  until echo "$NODE_RANK" | exchange "$MASTER_PORT" 2>/dev/null; do busybox sleep 0.2; done
  until exchange $((MASTER_PORT + 1)) </dev/null 2>/dev/null; do busybox sleep 0.2; done
fi
while :; do busybox sleep 1; done`

interface Pod {
  id: string
  status: string
  cluster?: { rank: number; ip: string }
  globalNetworking: { enabled: boolean; ip?: string; internalDns?: string }
}

const row = new MachineRow()
let plane: TestPlane
let agents: TestAgent[] = []
let image: string

beforeAll(async () => {
  const [started, made] = await Promise.all([
    startPlane({ args: ['--no-agent'], env: { PLACEMENT: 'spread' } }),
    busyboxImage(),
    row.start(3),
  ])
  plane = started
  image = made
  await Promise.all(row.machines.map((machine) => machine.engine.load(image)))
  agents = await Promise.all(row.machines.map((machine, index) => joinMachine(machine, `m${index}`)))
})

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  await plane.stop()
  await row.close()
})

async function joinMachine(machine: RowMachine, name: string): Promise<TestAgent> {
  await row.bring(plane.url, machine)
  const env = { DOCKER_HOST: machine.engine.address }
  return await startAgent({ plane, name, runtime: 'docker', simulateGpus: `${GPU}:6`, within: machine.inside, env })
}

const args = (script: string) => JSON.stringify({ entrypoint: ['/bin/busybox', 'sh', '-c'], cmd: [script] })
const call = <T>(method: string, path: string, body?: unknown) => callPlane<T>(plane, plane.apiKey, method, path, body)

async function createCluster(name: string, type: string, script: string): Promise<{ id: string }> {
  const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 3 }
  return await call('POST', '/v2/clusters', { name, type, image, args: args(script), compute })
}

async function runningMembers(id: string): Promise<Pod[]> {
  return await eventually(`all members of ${id} run`, READY_MS, async () => {
    const { pods } = await call<{ pods: Pod[] }>('GET', `/v2/clusters/${id}/pods`)
    return pods.length === 3 && pods.every(({ status }) => status === 'RUNNING') && pods
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${agents.map((agent) => agent.output().slice(-3_000)).join('\n')}`)
  })
}

/** Runs a command in the container of a pod, on whichever machine it is. */
async function inside({ id }: Pick<Pod, 'id'>, script: string): Promise<string> {
  for (const { engine } of row.machines) {
    const [name] = (await engine.docker('ps', '--filter', `name=^podplane-${id}-\\d+$`, '--format', '{{.Names}}')).split('\n')
    if (name) return await engine.docker('exec', name, '/bin/busybox', 'sh', '-c', script)
  }
  throw new Error(`no machine has a container of ${id}`)
}

const ask = (pod: Pick<Pod, 'id'>, name: string) => inside(pod, `busybox nc -w 3 ${name} ${PORT} </dev/null 2>/dev/null || echo nobody`)

test('[CLU-14] [NET-44] [NET-46] members of an APPLICATION cluster on three machines reach one another by name; another cluster is separate', async () => {
  const [red, blue] = await Promise.all([createCluster('red', 'APPLICATION', SERVE), createCluster('blue', 'APPLICATION', SERVE)])
  const [reds, blues] = await Promise.all([runningMembers(red.id), runningMembers(blue.id)])
  for (const members of [reds, blues]) {
    for (const member of members) {
      for (const other of members) {
        const name = `node-${other.cluster?.rank}`
        await eventually(`${member.id} reaches ${name}`, 10_000, async () => (await ask(member, name)) === name)
      }
    }
  }
  for (const other of blues) expect(await ask(reds[0] as Pod, other.cluster?.ip ?? '')).toBe('nobody')
  await Promise.all([red, blue].map(({ id }) => call('DELETE', `/v2/clusters/${id}`)))
  for (const machine of row.machines) {
    const links = async () => await row.run(machine, 'ip', '-o', 'link', 'show', 'type', 'vxlan')
    await eventually('no tunnel is left', 30_000, async () => (await links()) === '')
  }
})

test('[ENV-3] [NET-46] members of a TRAINING cluster sum their ranks with their environment alone, and all get the sum', async () => {
  const { id } = await createCluster('train', 'TRAINING', SUM)
  const members = await runningMembers(id)
  for (const member of members) {
    const log = LogFollower.ofPod(plane, member.id)
    try {
      await eventually(`rank ${member.cluster?.rank} knows the sum`, 20_000, async () => log.lines().includes('sum 3'))
    } finally {
      log.close()
    }
  }
  await call('DELETE', `/v2/clusters/${id}`)
})

test('[NET-3] [NET-48] pods with global networking reach one another under the internal domain', async () => {
  const body = { image, args: args(SERVE), gpu: { id: GPU }, globalNetworking: true }
  const made = await Promise.all(['a', 'b'].map((name) => call<Pod>('POST', '/v2/pods', { ...body, name })))
  for (const { id } of made) {
    await eventually(`${id} runs`, READY_MS, async () => (await call<Pod>('GET', `/v2/pods/${id}`)).status === 'RUNNING')
  }
  const [first, second] = made as [Pod, Pod]
  const reached = async () => await ask(first, second.globalNetworking.internalDns ?? '')
  await eventually('the second is reached by its name', 20_000, async () => (await reached()) !== 'nobody')
  expect(await inside(first, "busybox ip -4 -o addr show dev ens9 | busybox awk '{print $4}'")).toBe(`${first.globalNetworking.ip}/22`)
})
