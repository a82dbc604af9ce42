import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiClient, createApiClient } from '../../../src/client/client.ts'
import { PlayedEndpoint, WorkerQueue } from './endpoint.ts'
import { eventually } from './http.ts'
import { type IdleHost, startIdleHost } from './idle-host.ts'
import type { Target } from './target.ts'
import { PlayedWorker } from './worker.ts'

export interface EndpointOptions {
  /** Number of workers that the platform keeps running: it starts them at once. */
  workers?: number
  /** Maximum number of workers; by default as many as are kept running. */
  maxWorkers?: number
  scaling?: Record<string, unknown>
}

interface Created {
  id: string
}

interface CreatedKey extends Created {
  key: string
}

/** More than the tests of one file need at a time. */
const CAPACITY = 128
/** REST limits must never slow the suite down; but an exempt account would not meet the limits of the job API either. */
const QUOTA = { minute: 1_000_000, hour: 10_000_000, day: 100_000_000, exempt: false }

/** A fresh account with a machine of its own: no other tenant's workloads are placed there, and its own are placed nowhere else. */
export class Tenant {
  readonly url: string
  readonly apiKey: string
  private readonly target: Target
  private readonly keyId: string
  private readonly rest: ApiClient
  private readonly operator: ApiClient
  private readonly stateDir: string
  private readonly dataCenterId: string
  private readonly queues = new Map<string, WorkerQueue>()
  private readonly played = new Map<string, PlayedWorker>()
  private readonly endpoints = new Set<string>()
  private host: IdleHost | undefined

  private constructor(target: Target, operator: ApiClient, key: CreatedKey) {
    this.target = target
    this.url = target.url
    this.apiKey = key.key
    this.keyId = key.id
    this.operator = operator
    this.rest = createApiClient(target.url, key.key)
    this.dataCenterId = `CONF-${randomBytes(6).toString('hex').toUpperCase()}`
    this.stateDir = mkdtempSync(join(tmpdir(), 'podplane-conformance-host-'))
  }

  static async open(target: Target): Promise<Tenant> {
    const operator = createApiClient(target.url, target.operatorKey)
    const tenant = new Tenant(target, operator, await createKey(operator))
    const { token } = (await operator.request('POST', '/admin/v1/join-tokens', { dataCenterId: tenant.dataCenterId })) as { token: string }
    tenant.host = await startIdleHost({
      planeUrl: target.url,
      joinToken: token,
      stateDir: tenant.stateDir,
      name: tenant.dataCenterId,
      capacity: CAPACITY,
      onStart(workload) {
        const worker = new PlayedWorker(workload, target.url)
        tenant.played.set(workload.id, worker)
        tenant.queue(workload.platformEnv.RUNPOD_ENDPOINT_ID ?? '').push(worker)
      },
      async onStop(workload) {
        tenant.played.get(workload.id)?.stopWasOrdered(workload)
        if (tenant.played.get(workload.id)?.outlivesStop) await new Promise(() => undefined)
      },
    })
    return tenant
  }

  async openEndpoint(options: EndpointOptions): Promise<PlayedEndpoint> {
    const { workers: min = 0, maxWorkers: max = min, scaling } = options
    // REQUEST_COUNT scaling has no idle timeout.
    const idleTimeout = scaling === undefined ? { idleTimeout: 3600 } : {}
    const created = await this.rest.request('POST', '/v2/serverless', {
      name: 'conformance',
      image: 'builtin/idle',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      disk: 1,
      dataCenterIds: [this.dataCenterId],
      workers: { min, max, ...idleTimeout },
      ...(scaling === undefined ? {} : { scaling }),
    })
    const { id } = created as Created
    this.endpoints.add(id)
    return new PlayedEndpoint(id, this.url, this.apiKey, this.queue(id))
  }

  /** Changes an endpoint through REST. */
  async changeEndpoint(id: string, changes: Record<string, unknown>): Promise<void> {
    await this.rest.request('PATCH', `/v2/serverless/${id}`, changes)
  }

  async removeEndpoint(id: string): Promise<void> {
    if (this.endpoints.delete(id)) await this.rest.request('DELETE', `/v2/serverless/${id}`)
    for (const worker of this.played.values()) if (worker.workload.platformEnv.RUNPOD_ENDPOINT_ID === id) worker.mute()
  }

  /** Removes everything but a user without a key from a deployment that is not temporary. */
  async close(): Promise<void> {
    const { host, target } = this
    if (!target.temporary) for (const id of [...this.endpoints]) await this.removeEndpoint(id)
    host?.close()
    if (host && !target.temporary) {
      await eventually('the machine is removed', () => this.removeHost(host.id))
      await this.operator.request('DELETE', `/admin/v1/keys/${this.keyId}`)
    }
    rmSync(this.stateDir, { recursive: true, force: true })
  }

  /** Runs `use` with the key of another tenant. */
  async withForeignKey(use: (apiKey: string) => Promise<void>): Promise<void> {
    const { id, key } = await createKey(this.operator)
    await use(key)
    await this.operator.request('DELETE', `/admin/v1/keys/${id}`)
  }

  // Refused for as long as the machine holds anything and is not yet OFFLINE for the plane.
  private async removeHost(id: string): Promise<boolean> {
    try {
      await this.operator.request('DELETE', `/admin/v1/hosts/${id}`)
      return true
    } catch {
      return false
    }
  }

  private queue(endpointId: string): WorkerQueue {
    const queue = this.queues.get(endpointId) ?? new WorkerQueue()
    this.queues.set(endpointId, queue)
    return queue
  }
}

async function createKey(operator: ApiClient): Promise<CreatedKey> {
  const email = `conformance-${randomBytes(8).toString('hex')}@example.com`
  const { id } = (await operator.request('POST', '/admin/v1/users', { email })) as Created
  await operator.request('PUT', `/admin/v1/users/${id}/quotas`, QUOTA)
  return (await operator.request('POST', `/admin/v1/users/${id}/keys`, { name: 'conformance' })) as CreatedKey
}
