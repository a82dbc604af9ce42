import type { DatabaseSync } from 'node:sqlite'
import { createApiClient } from '../../src/client/client.ts'
import { waitForHost } from '../../src/local/demo.ts'
import { STAY_SCRIPT } from '../../test/e2e/support/agent/pod-scripts.ts'
import { busyboxImage } from '../../test/e2e/support/agent/worker-image.ts'
import { docker } from '../../test/e2e/support/machines/docker.ts'
import { Fleet } from '../../test/e2e/support/plane/fleet.ts'
import { GPU_TYPE, podBody, TestPod } from '../../test/e2e/support/plane/pods.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { amountRow, changeRow, latencyRow, median, percentiles, type Row, ratioRow } from '../report.ts'
import { type BenchPlane, createAccount, startBenchPlane } from '../setup.ts'

const FEW_PODS = 1_000
const MANY_PODS = 10_000
const HOSTS = 1_000
const OTHER_TENANTS = 100
/** Total of all other tenants. */
const OTHER_PODS = 100_000
const HOST_WAIT_MS = 10_000
const LIST_ROUNDS = 60
const PAGE = 100
const START_ROUNDS = 12

/** Cost of a list of many pods, and of a pod compared with its container alone. */
export async function measurePods(): Promise<Row[]> {
  return [...(await measureLists()), ...(await measureStarts())]
}

/** Milliseconds of one page, one value per round. */
interface Listed {
  few: number[]
  many: number[]
  manyAmongOthers: number[]
  whole: number[]
}

async function measureLists(): Promise<Row[]> {
  await using alone = await startBenchPlane()
  await using shared = await startBenchPlane()
  const small = await createAccount(alone, 'small@podplane.local')
  await fill(alone, [
    { apiKey: alone.apiKey, pods: MANY_PODS },
    { apiKey: small, pods: FEW_PODS },
  ])
  await fill(shared, [{ apiKey: shared.apiKey, pods: MANY_PODS }], OTHER_TENANTS)
  await Promise.all([warmUp(alone), warmUp(shared)])
  const listed: Listed = { few: [], many: [], manyAmongOthers: [], whole: [] }
  const page = `/v2/pods?limit=${PAGE}`
  // The lists alternate round by round, so that the drift of the machine affects all of them alike.
  for (let round = 0; round < LIST_ROUNDS; round += 1) {
    listed.few.push(await timeList(alone.url, small, page, PAGE))
    listed.many.push(await timeList(alone.url, alone.apiKey, page, PAGE))
    listed.manyAmongOthers.push(await timeList(shared.url, shared.apiKey, page, PAGE))
    listed.whole.push(await timeList(alone.url, alone.apiKey, '/v2/pods', 1_000))
  }
  return [
    latencyRow(`GET /v2/pods, ${PAGE} of ${MANY_PODS} pods on ${HOSTS} hosts`, percentiles(listed.many)),
    latencyRow(`GET /v2/pods, 1000 of ${MANY_PODS} pods on ${HOSTS} hosts`, percentiles(listed.whole)),
    changeRow(`${PAGE} of ${MANY_PODS} pods against ${PAGE} of ${FEW_PODS}`, listed.many, listed.few, { atMost: 0.1 }),
    changeRow(`the same beside ${OTHER_PODS} pods of others against none`, listed.manyAmongOthers, listed.many, { atMost: 0.1 }),
  ]
}

/** The first call creates the objects of the hosts, which a running plane already has. */
async function warmUp({ url, apiKey }: BenchPlane): Promise<void> {
  for (let call = 0; call < 2; call += 1) {
    const response = await fetch(`${url}/v2/pods`, { headers: { authorization: `Bearer ${apiKey}` } })
    await response.arrayBuffer()
  }
}

async function timeList(url: string, apiKey: string, path: string, expected: number): Promise<number> {
  // An idle connection may have been closed while another plane was measured.
  const connection = await HttpConnection.open(url)
  const startedAt = performance.now()
  const { status, body } = await connection.request('GET', path, { authorization: `Bearer ${apiKey}` })
  const tookMs = performance.now() - startedAt
  connection.close()
  const pods = status === 200 ? (JSON.parse(body) as { pods: { status: string }[] }).pods : []
  if (pods.length !== expected || pods.some((pod) => pod.status !== 'RUNNING')) throw new Error(`GET ${path} answered ${status}`)
  return tookMs
}

/**
 * Gives the accounts and other tenants (`otherTenants`) this many running pods, spread over all hosts. Each pod is a copy of one that was
 * really created.
 */
async function fill(plane: BenchPlane, accounts: readonly { apiKey: string; pods: number }[], otherTenants = 0): Promise<void> {
  const joinedAtMs = Date.now()
  await plane.joinHost()
  const operator = createApiClient(plane.url, plane.operatorKey)
  if (!(await waitForHost(operator, 'bench', joinedAtMs, HOST_WAIT_MS))) throw new Error('the host did not come online')
  const owners = await Promise.all(
    accounts.map(async ({ apiKey, pods }) => {
      const body = { name: 'bench', image: 'builtin/idle', cpu: { id: 'cpu3c', vcpuCount: 2 }, disk: 1 }
      const created = await createApiClient(plane.url, apiKey).request('POST', '/v2/pods', body)
      return { podId: (created as { id: string }).id, pods }
    }),
  )
  await plane.rewrite((database) => {
    database.exec('PRAGMA foreign_keys = OFF; BEGIN')
    copyRows(database, 'hosts', HOSTS - 1, 'SELECT id FROM hosts LIMIT 1', { id: `'host' || i`, name: `'host' || i` })
    database.exec(`CREATE TEMP TABLE places AS SELECT row_number() OVER () - 1 AS number, id FROM hosts`)
    const place = `(SELECT id FROM places WHERE number = i % ${HOSTS})`
    const running = { host_id: place, status: `'RUNNING'`, created_at: 'created_at + i', started_at: 'created_at + i' }
    for (const { podId, pods } of owners) {
      copyRows(database, 'pods', pods - 1, `SELECT '${podId}'`, { ...running, id: `'${podId}-' || i` })
      database.exec(`UPDATE pods SET status = 'RUNNING', started_at = created_at WHERE id = '${podId}'`)
    }
    const [sample] = owners
    const strange = { ...running, id: `'other' || i`, team_id: `'other' || (i % ${Math.max(1, otherTenants)})` }
    if (otherTenants > 0) copyRows(database, 'pods', OTHER_PODS, `SELECT '${sample?.podId}'`, strange)
    database.exec('COMMIT; ANALYZE')
  })
}

/** Copies the row that `source` selects; `changes` are expressions over its columns and the number `i` of the copy. */
function copyRows(database: DatabaseSync, table: string, count: number, source: string, changes: Record<string, string>): void {
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name))
  const values = columns.map((column) => changes[column] ?? column)
  database.exec(`WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
    INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${table}, numbers WHERE id = (${source})`)
}

/** Milliseconds from the request to the start time that the engine records, and to RUNNING as a client sees it. */
async function measureStarts(): Promise<Row[]> {
  const image = await busyboxImage()
  const fleet = await Fleet.start({ hosts: { bench: { simulateGpus: `${GPU_TYPE}:2` } } })
  const plain: number[] = []
  const started: number[] = []
  const seen: number[] = []
  try {
    // The first round has cold caches and is not counted.
    for (let round = 0; round <= START_ROUNDS; round += 1) {
      const alone = await timeDockerRun(image)
      const pod = await timeCreate(fleet, image)
      if (round === 0) continue
      plain.push(alone)
      started.push(pod.startedMs)
      seen.push(pod.seenMs)
    }
  } finally {
    await fleet.stop()
  }
  return [
    amountRow('docker run to its start, image there', median(plain), 'ms'),
    amountRow('create of a pod to the start of its container', median(started), 'ms'),
    ratioRow('create of a pod against docker run', started, plain, { atMost: 2 }),
    amountRow('create of a pod until a client sees RUNNING', median(seen), 'ms'),
  ]
}

async function timeDockerRun(image: string): Promise<number> {
  const askedAtMs = Date.now()
  const id = await docker('run', '--detach', image, '/bin/busybox', 'sh', '-c', STAY_SCRIPT)
  const startedAt = await docker('inspect', '--format', '{{.State.StartedAt}}', id)
  await docker('rm', '--force', id)
  return Date.parse(startedAt) - askedAtMs
}

async function timeCreate(fleet: Fleet, image: string): Promise<{ startedMs: number; seenMs: number }> {
  const askedAtMs = Date.now()
  const pod = await TestPod.run(fleet.plane, podBody(image, STAY_SCRIPT))
  const seenMs = Date.now() - askedAtMs
  const { State } = await pod.container()
  await pod.terminate()
  await fleet.hasFreeGpus('bench', GPU_TYPE, 2)
  return { startedMs: Date.parse(State.StartedAt) - askedAtMs, seenMs }
}
