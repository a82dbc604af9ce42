import { type Account, api, createAccount, createEndpoint, send } from '../harness.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { echo, FakeTunnel, type Serve } from '../hosts/fake-tunnel.ts'

// A load-balancing endpoint with workers that a test plays.

export interface Scene {
  account: Account
  endpointId: string
  host: FakeHost
  tunnel: FakeTunnel
  /** A request to the endpoint. */
  ask(path: string, init?: RequestInit): Promise<Response>
}

let shared: Promise<FakeHost> | null = null

/** An account with a load-balancing endpoint, on a host whose workers `serve` plays. */
export async function setUp(change: Record<string, unknown> = {}, serve: Serve = echo): Promise<Scene> {
  shared ??= FakeHost.join()
  const host = await shared
  const tunnel = await FakeTunnel.open(host, serve)
  const account = await createAccount()
  const workers = { min: 0, max: 1, idleTimeout: 60 }
  const endpointId = await createEndpoint(account.key, { type: 'LOAD_BALANCER', image: 'registry.example/app:1', workers, ...change })
  const ask = (path: string, init: RequestInit = {}) =>
    send(`/lb/${endpointId}${path}`, { ...init, headers: { Authorization: `Bearer ${account.key}`, ...init.headers } })
  return { account, endpointId, host, tunnel, ask }
}

/** Starts the next worker of the endpoint and makes it healthy. */
export async function startWorker({ host, endpointId }: Scene, known: readonly string[] = []): Promise<string> {
  const { id } = await host.startWorker(endpointId, known)
  await host.report(id, { state: 'running', health: 'healthy' })
  return id
}

export const openRequests = ({ endpointId, account }: Scene) =>
  api(account.key)
    .get(`/v2/${endpointId}/health`)
    .then(({ body }) => body.requests)
