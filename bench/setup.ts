import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createApiClient } from '../src/client/client.ts'
import { LIMIT_BUCKETS } from '../src/contract/jobs/job-routes.ts'
import { loadSecrets, openDataDir } from '../src/local/data-dir.ts'
import { createJoinToken } from '../src/local/demo.ts'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { loadBundle } from '../src/local/plane/bundle.ts'
import { type Plane, startPlane } from '../src/local/plane/plane.ts'
import { claimPort } from '../src/local/port.ts'
import { openLocalDatabase } from '../test/e2e/support/plane/local-database.ts'
import { type FakeHost, type PingingWorker, startFakeHost, WORKER_VCPUS, WORKERS } from './fake-host.ts'

/** A plane in a fresh directory with one account, whose limits are counted but out of reach. */
export interface BenchPlane extends AsyncDisposable {
  url: string
  apiKey: string
  operatorKey: string
  /** Returns a token with which one more host may join. */
  createJoinToken(name: string): Promise<string>
  /** Directory for the key of a host. */
  agentDir: string
  /** Starts the host that runs nothing, for the lifetime of the plane. */
  joinHost(): Promise<FakeHost>
  /** Stops the plane and starts it on the same data; returns the duration of the start, milliseconds. */
  restart(): Promise<number>
  /** Stops the plane, lets `write` change its database, and starts the plane again. */
  rewrite(write: (database: DatabaseSync) => void): Promise<void>
  /** Pid of the runtime that serves the plane. */
  pid(): number
  /** Port of its inspector, if one was asked for. */
  inspectorPort: number | undefined
}

/** An endpoint whose workers the bench plays. */
export interface Queue {
  url: string
  apiKey: string
  endpointId: string
  workers: PingingWorker[]
}

/** The bound of a queue grows with the number of possible workers, so this value lets the queue grow. */
const MAX_WORKERS = 200
const OUT_OF_REACH = 100_000_000
const VARS = {
  LOG_LEVEL: 'warn',
  JOB_LIMITS: JSON.stringify(Object.fromEntries(LIMIT_BUCKETS.map((bucket) => [bucket, { rate: OUT_OF_REACH, concurrent: OUT_OF_REACH }]))),
  SPEND_LIMIT_USD_PER_HOUR: '1000000',
  // The bench's workers do not ping; with this interval the plane does not replace them during a measurement.
  WORKER_PING_INTERVAL_MS: '600000',
}
const QUOTA = { minute: OUT_OF_REACH, hour: OUT_OF_REACH, day: OUT_OF_REACH, exempt: false }

/** Serves the plane's Worker with the entry points of bench/inside, as `npm start` does. `vars` override those of the bench. */
export async function startBenchPlane(vars: Partial<typeof VARS> = {}, inspectorPort?: number): Promise<BenchPlane> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-bench-'))
  const dataDir = openDataDir(join(directory, 'plane'))
  const secrets = loadSecrets(dataDir)
  const bundle = await loadBundle(join(PROJECT_ROOT, 'bench/inside/wrangler.toml'), 'bench-inside')
  const port = await claimPort(0)
  let pid = 0
  const onProcess = (started: number) => {
    pid = started
  }
  const start = () =>
    startPlane({
      storage: dataDir.storage,
      port,
      vars: { ...VARS, ...vars, ...secrets },
      bundle,
      onLog: printLog,
      onProcess,
      ...(inspectorPort !== undefined && { inspectorPort }),
    })
  let plane: Plane = await start()
  const operator = createApiClient(plane.url, secrets.OPERATOR_KEY)
  const apiKey = await createAccount({ url: plane.url, operatorKey: secrets.OPERATOR_KEY }, 'bench@podplane.local')
  let host: FakeHost | undefined
  return {
    url: plane.url,
    apiKey,
    operatorKey: secrets.OPERATOR_KEY,
    agentDir: dataDir.agent,
    pid: () => pid,
    inspectorPort,
    createJoinToken: (name) => createJoinToken(operator, name),
    async joinHost() {
      host = await startFakeHost({ planeUrl: plane.url, joinToken: await createJoinToken(operator, 'bench'), stateDir: dataDir.agent })
      return host
    },
    async restart() {
      await plane.stop()
      const startedAt = performance.now()
      plane = await start()
      await fetch(`${plane.url}/v2/serverless`, { headers: { authorization: `Bearer ${apiKey}` } })
      return performance.now() - startedAt
    },
    async rewrite(write) {
      await plane.stop()
      const database = openLocalDatabase(dataDir.storage, { readOnly: false })
      write(database)
      database.close()
      plane = await start()
    },
    async [Symbol.asyncDispose]() {
      host?.close()
      await plane.stop()
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** Creates an endpoint on a plane, with all the workers that fit on the bench's host. */
export async function startQueue(plane: BenchPlane): Promise<Queue> {
  const host = await plane.joinHost()
  const endpointId = await createEndpoint(plane, { min: WORKERS, max: MAX_WORKERS })
  return { url: plane.url, apiKey: plane.apiKey, endpointId, workers: await host.workers }
}

/** Serves a plain Worker in the same way, from a directory of its own. */
export async function startBaseline(): Promise<AsyncDisposable & { url: string; pid(): number }> {
  const storage = mkdtempSync(join(tmpdir(), 'podplane-baseline-'))
  const bundle = await loadBundle(join(PROJECT_ROOT, 'bench/baseline/wrangler.toml'), 'bench-baseline')
  let pid = 0
  const onProcess = (started: number) => {
    pid = started
  }
  const worker = await startPlane({ storage, port: await claimPort(0), vars: {}, bundle, onLog: printLog, onProcess })
  return {
    url: worker.url,
    pid: () => pid,
    async [Symbol.asyncDispose]() {
      await worker.stop()
      rmSync(storage, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** Creates an endpoint through REST and returns its id. */
export async function createEndpoint(
  { url, apiKey }: Pick<BenchPlane, 'url' | 'apiKey'>,
  workers: { min: number; max: number },
): Promise<string> {
  const created = await createApiClient(url, apiKey).request('POST', '/v2/serverless', {
    name: 'bench',
    image: 'builtin/probe',
    cpu: [{ id: 'cpu3c', vcpuCount: WORKER_VCPUS }],
    workers: { ...workers, idleTimeout: 3600 },
    disk: 1,
  })
  return (created as { id: string }).id
}

/** Creates an account whose limits are out of reach and returns its key. */
export async function createAccount({ url, operatorKey }: Pick<BenchPlane, 'url' | 'operatorKey'>, email: string): Promise<string> {
  const operator = createApiClient(url, operatorKey)
  const { id } = (await operator.request('POST', '/admin/v1/users', { email })) as { id: string }
  await operator.request('PUT', `/admin/v1/users/${id}/quotas`, QUOTA)
  const created = await operator.request('POST', `/admin/v1/users/${id}/keys`, { name: 'bench' })
  return (created as { key: string }).key
}

function printLog(line: string): void {
  process.stderr.write(`${line}\n`)
}
