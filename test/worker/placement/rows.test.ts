import { openRecords } from '../../../src/db/client.ts'
import { findEndpointConfig } from '../../../src/db/endpoints/endpoint-config.ts'
import { dropFleet } from '../../../src/effects/placement/fleet.ts'
import { placeWorker } from '../../../src/effects/workers/place-worker.ts'
import { newResourceId } from '../../../src/platform/ids.ts'
import { countReads } from '../../support/cost/read-counts.ts'
import {
  afterEach,
  api,
  beforeAll,
  createAccount,
  createEndpoint,
  describe,
  env,
  expect,
  it,
  onTestFinished,
  vi,
} from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'

/** Hosts of the fleet, and the most rows that one placement among them reads. */
const HOSTS = 10_000
const MOST_ROWS = 300
const SLOW = { timeout: 120_000 }

const FREE = 'NVIDIA GeForce RTX 4090'
const FULL = 'NVIDIA H100 NVL'

// Half of the hosts have free GPUs of one type, half no free GPU of another; the second half has no free vCPU either. Each is in one of five
// data centers and runs two workloads of others.
const FILL = [
  `INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free, memory_mb_total, memory_mb_free,
    disk_gb_total, disk_gb_free, created_at)
  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${HOSTS - 1})
  SELECT 'fleet-' || i, 'fleet', 'DC-' || i % 5, 'ONLINE', 'key-' || i, 1,
    '{"runtimes":["process","docker"],"isolation":{"network":true,"runtimeClass":"runc"}}', 64, CASE WHEN i % 2 THEN 0 ELSE 4 + i % 20 END,
    262144, 131072, 2000, 1000, 1 FROM n`,
  `INSERT INTO allocations (id, team_id, host_id, kind, owner_id, gpu_count, vcpu, memory_mb, disk_gb, created_at)
  SELECT which || hosts.id, 'other-' || which, hosts.id, 'pod', 'p', 0, 0, 1, 1, 1 FROM hosts, (SELECT 1 AS which UNION ALL SELECT 2) WHERE hosts.name = 'fleet'`,
  `INSERT INTO host_gpus SELECT id, CASE WHEN vcpu_free > 0 THEN '${FREE}' ELSE '${FULL}' END, '12.8', 8,
    CASE WHEN vcpu_free > 0 THEN 2 + CAST(vcpu_free AS INTEGER) % 7 ELSE 0 END FROM hosts WHERE name = 'fleet'`,
]

beforeAll(async () => {
  for (const statement of FILL) await env.DB.prepare(statement).run()
}, SLOW.timeout)

afterEach(() => vi.restoreAllMocks())

/** Rows that D1 reads during a call, with the statements that read most. */
async function rowsOf(call: () => Promise<unknown>): Promise<{ rows: number; most: string }> {
  const reads = countReads()
  await call()
  vi.restoreAllMocks()
  const rows = reads.reduce((sum, read) => sum + read.rows, 0)
  const most = reads.toSorted((a, b) => b.rows - a.rows).slice(0, 6)
  return { rows, most: most.map((read) => `${read.rows}: ${read.sql.slice(0, 90)}`).join('\n') }
}

/** Places workers of a new endpoint, one with each call. */
async function workersOf(compute: object, isForJob = false) {
  const account = await createAccount()
  const endpointId = await createEndpoint(account.key, { gpu: undefined, ...compute, workers: { min: 0, max: 1, idleTimeout: 5 } })
  const config = await findEndpointConfig(openRecords(env), endpointId)
  if (!config) throw new Error('the endpoint is stored')
  return () => placeWorker(env, { config, workerId: newResourceId(), boot: 'b', pingIntervalMs: 5_000, isForJob, leavingIds: [] })
}

const gpuOf = (typeId: string) => ({ typeId, count: 1, memoryMb: 24_576, driverVersion: null, cudaVersion: '12.8', simulated: true })

describe(`[PLACE-1] a placement among ${HOSTS} hosts reads at most ${MOST_ROWS} rows`, SLOW, () => {
  // The host that the policy prefers is one that answers.
  it.each([
    ['a worker with a GPU', { gpu: { pools: ['ADA_24'] } }, { gpus: [gpuOf(FREE)], vcpus: 3 }],
    ['a worker without', { cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }, { gpus: [], vcpus: 3 }],
  ])('%s', async (_name, compute, inventory) => {
    const place = await workersOf(compute)
    const { id } = await FakeHost.join(inventory)
    const { rows, most } = await rowsOf(async () => expect(await place()).toMatchObject({ ok: true, hostId: id }))
    expect(rows, most).toBeLessThanOrEqual(MOST_ROWS)
  })

  it.each([
    ['a pod with a GPU', { gpu: { id: FREE, count: 1 } }, { gpus: [gpuOf(FREE)], vcpus: 3, memoryMb: 65_536 }],
    ['a pod without', { cpu: { id: 'cpu3c', vcpuCount: 2 } }, { gpus: [], vcpus: 3, memoryMb: 65_536 }],
  ])('%s, with all else that its request reads', async (_name, compute, inventory) => {
    const { key } = await createAccount()
    await FakeHost.join(inventory)
    const create = () => api(key).post('/v2/pods', { name: 'p', image: 'acme/idle:1', ...compute })
    const { rows, most } = await rowsOf(async () => expect(await create()).toMatchObject({ status: 201 }))
    expect(rows, most).toBeLessThanOrEqual(MOST_ROWS)
  })
})

describe('[PLACE-2] a worker that fits nowhere reads the fleet once in five seconds', SLOW, () => {
  it.each([
    ['for lack of GPUs', { gpu: { pools: ['ADA_80_PRO'] } }, false],
    ['for lack of GPUs, for a job', { gpu: { pools: ['ADA_80_PRO'] } }, true],
    ['for lack of vCPUs', { cpu: [{ id: 'cpu3c', vcpuCount: 32 }] }, false],
  ])('%s', async (_name, compute, isForJob) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    dropFleet()
    const place = await workersOf(compute, isForJob)
    const refusal = { ok: false, reason: expect.stringMatching(/none of 1000\d online hosts fits/) }
    const first = await rowsOf(async () => expect(await place()).toMatchObject(refusal))
    expect(first.rows).toBeGreaterThan(HOSTS)
    const { rows, most } = await rowsOf(async () => expect(await place()).toMatchObject(refusal))
    expect(rows, most).toBeLessThanOrEqual(MOST_ROWS)
  })
})
