import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLUSTER_GPU, type ClusterHost, joinClusterHost, MEMBERS_A_HOST } from '../cluster-host.ts'
import { amountRow, median, type Row } from '../report.ts'
import { type BenchPlane, startBenchPlane } from '../setup.ts'

const MEMBERS = [3, 50, 250]
const ROUNDS = 3
const JOINING_AT_ONCE = 4
const POLL_MS = 20
const TIME_LIMIT_MS = 120_000

/** Milliseconds since the request. */
interface Provisioned {
  answered: number
  running: number
  gone: number
}

/**
 * Times of clusters on hosts that answer at once: from the request to the answer, to all members running, and from DELETE until everything
 * is removed.
 */
export async function measureClusters(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const directory = mkdtempSync(join(tmpdir(), 'podplane-clusters-'))
  const hosts: ClusterHost[] = []
  try {
    await joinHosts(plane, hosts, Math.ceil(Math.max(...MEMBERS) / MEMBERS_A_HOST), directory)
    const rows: Row[] = []
    for (const members of MEMBERS) {
      const measured: Provisioned[] = []
      for (let round = 0; round < ROUNDS; round += 1) measured.push(await provision(plane, members))
      rows.push(...describe(members, measured))
    }
    return rows
  } finally {
    for (const host of hosts) host.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function joinHosts(plane: BenchPlane, hosts: ClusterHost[], count: number, directory: string): Promise<void> {
  let joining = 0
  const joinNext = async () => {
    while (joining < count) {
      joining += 1
      const number = joining
      hosts.push(await joinClusterHost(plane.url, await plane.createJoinToken(`bench-${number}`), number, directory))
    }
  }
  await Promise.all(Array.from({ length: JOINING_AT_ONCE }, joinNext))
}

async function provision(plane: BenchPlane, podCount: number): Promise<Provisioned> {
  const body = { name: 'bench', type: 'TRAINING', image: 'acme/train:1', compute: { gpuTypeId: CLUSTER_GPU, gpuCountPerPod: 1, podCount } }
  const startedAt = performance.now()
  const { id } = await call<{ id: string }>(plane, 'POST', '/v2/clusters', body)
  const answered = performance.now() - startedAt
  await until(async () => (await call<ClusterBody>(plane, 'GET', `/v2/clusters/${id}`)).pods.byStatus.RUNNING === podCount)
  const running = performance.now() - startedAt
  const deletedAt = performance.now()
  await call(plane, 'DELETE', `/v2/clusters/${id}`)
  await until(async () => (await call<LimitsBody>(plane, 'GET', '/v2/account/limits')).gpus.used === 0)
  return { answered, running, gone: performance.now() - deletedAt }
}

interface LimitsBody {
  gpus: { used: number }
}

interface ClusterBody {
  pods: { byStatus: Record<string, number> }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + TIME_LIMIT_MS
  while (!(await isTrue())) {
    if (performance.now() > endsAt) throw new Error('a cluster took too long')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function call<Answer>({ url, apiKey }: BenchPlane, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${apiKey}`, connection: 'close', ...(body && { 'content-type': 'application/json' }) }
  const reply = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

function describe(members: number, measured: readonly Provisioned[]): Row[] {
  const of = (name: keyof Provisioned) => median(measured.map((one) => one[name]))
  const each = of('running') / members
  return [
    amountRow(`a cluster of ${members} members: until its answer`, of('answered'), 'ms'),
    amountRow(`a cluster of ${members} members: until all run`, of('running'), 'ms'),
    amountRow(`a cluster of ${members} members: until all run, each`, each, 'ms'),
    amountRow(`a cluster of ${members} members: from DELETE until its places are free`, of('gone'), 'ms'),
  ]
}
