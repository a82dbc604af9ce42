import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createApiClient } from '../src/local/api-client.ts'
import { loadBundle } from '../src/local/bundle.ts'
import { loadSecrets, openDataDir } from '../src/local/data-dir.ts'
import { createJoinToken, ensureDemoAccount } from '../src/local/demo.ts'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { type Plane, startPlane } from '../src/local/plane.ts'
import { claimPort } from '../src/local/port.ts'
import { type FakeHost, startFakeHost, WORKER_VCPUS, WORKERS, type WorkerAccess } from './fake-host.ts'

export interface Bench {
  url: string
  apiKey: string
  endpointId: string
  workers: WorkerAccess[]
  baselineUrl: string
  /** Stops the plane and starts it on the same data; returns how long the start took. */
  restart(): Promise<number>
  close(): Promise<void>
}

/** A job may wait in the queue for every worker that could exist, so this is what lets the queue grow. */
const MAX_WORKERS = 200

/** A plane and a plain Worker, served the same way from fresh directories, with one endpoint whose workers are the bench. */
export async function setUp(): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'podplane-bench-'))
  const dataDir = openDataDir(join(directory, 'plane'))
  const secrets = loadSecrets(dataDir)
  const port = await claimPort(0)
  const startThePlane = () =>
    startPlane({
      storage: dataDir.storage,
      port,
      vars: { ...secrets, LOG_LEVEL: 'warn' },
      onLog: (line) => process.stderr.write(`${line}\n`),
    })
  let plane: Plane = await startThePlane()
  const baseline = await startBaseline(join(directory, 'baseline'))
  const operator = createApiClient(plane.url, secrets.OPERATOR_KEY)
  const { apiKey } = await ensureDemoAccount(plane.url, operator, undefined)
  const host = await startFakeHost({ planeUrl: plane.url, joinToken: await createJoinToken(operator, 'bench'), stateDir: dataDir.agent })
  const endpointId = await createEndpoint(plane.url, apiKey)
  return {
    url: plane.url,
    apiKey,
    endpointId,
    workers: await host.workers,
    baselineUrl: baseline.url,
    async restart() {
      await plane.stop()
      const startedAt = performance.now()
      plane = await startThePlane()
      await fetch(`${plane.url}/v2/${endpointId}/health`, { headers: { authorization: `Bearer ${apiKey}` } })
      return performance.now() - startedAt
    },
    close: () => tearDown(directory, host, [plane, baseline]),
  }
}

export function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} threads, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`
}

async function startBaseline(storage: string): Promise<Plane> {
  const bundle = await loadBundle(join(PROJECT_ROOT, 'bench/baseline/wrangler.toml'), 'baseline')
  return await startPlane({ storage, port: await claimPort(0), vars: {}, bundle, onLog: (line) => process.stderr.write(`${line}\n`) })
}

async function createEndpoint(url: string, apiKey: string): Promise<string> {
  const created = await createApiClient(url, apiKey).request('POST', '/v2/serverless', {
    name: 'bench',
    image: 'builtin/probe',
    cpu: [{ id: 'cpu3c', vcpuCount: WORKER_VCPUS }],
    workers: { min: WORKERS, max: MAX_WORKERS, idleTimeout: 3600 },
    disk: 1,
  })
  return (created as { id: string }).id
}

async function tearDown(directory: string, host: FakeHost, planes: Plane[]): Promise<void> {
  host.close()
  await Promise.all(planes.map((plane) => plane.stop()))
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}
