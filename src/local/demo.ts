import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, ApiError, createApiClient } from '../client/client.ts'
import type { DemoAccount } from './data-dir.ts'

/** E-mail address of the demo account; only its webhooks may call this machine (HOOK-21). */
export const DEMO_EMAIL = 'demo@podplane.local'
/** Out of reach for one machine, but counted, so that clients under test receive rate limit headers (PLANE-23). */
const DEMO_QUOTA = { minute: 1_000_000, hour: 10_000_000, day: 100_000_000, exempt: false }
const ECHO_ENDPOINT = {
  name: 'echo',
  image: 'builtin/echo',
  cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
  workers: { min: 0, max: 3, idleTimeout: 60 },
  disk: 1,
}
const HOST_POLL_MS = 100
const HEALTH_TIMEOUT_MS = 30_000

type Host = Awaited<ReturnType<ApiClient['getHost']>>

/** Whether the plane answers health checks, however slow its other answers are. */
export async function answersHealth(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })).ok
  } catch {
    return false
  }
}

/** Returns the demo account of an earlier run if it still works, and creates its missing parts. */
export async function ensureDemoAccount(url: string, operator: ApiClient, known: DemoAccount | undefined): Promise<DemoAccount> {
  const apiKey = known !== undefined && (await keyWorks(url, known.apiKey)) ? known.apiKey : await createDemoKey(operator)
  const rest = createApiClient(url, apiKey)
  const endpointId = known !== undefined && (await endpointExists(rest, known.endpointId)) ? known.endpointId : await createEndpoint(rest)
  return { apiKey, endpointId }
}

/**
 * Returns the path of a single-use sign-in link for the demo user as an operator (SESSION-16). It is printed on this terminal only. Throws
 * when the account has no user.
 */
export async function createConsoleLink(operator: ApiClient): Promise<string> {
  const userId = await findDemoUser(operator)
  if (userId === undefined) throw new Error('the demo account has no user')
  return (await operator.createSignInLink({ body: { userId, isOperator: true } })).path
}

/** Creates a join token for a host of this name and returns it. */
export async function createJoinToken(operator: ApiClient, name: string): Promise<string> {
  return (await operator.createJoinToken({ body: { name } })).token
}

/**
 * Waits until a host of this name has linked since `sinceMs`; undefined if it does not in time. The status alone is not enough: after a
 * crash of the plane a host is still shown as online until its lease expires.
 */
export async function waitForHost(operator: ApiClient, name: string, sinceMs: number, timeoutMs: number): Promise<Host | undefined> {
  const deadline = Date.now() + timeoutMs
  // Times of the API have a precision of seconds.
  const since = Math.floor(sinceMs / 1000) * 1000
  while (Date.now() < deadline) {
    const { hosts } = await operator.listHosts()
    const linked = hosts.find((host) => host.name === name && host.status === 'ONLINE' && Date.parse(host.lastSeenAt ?? '') >= since)
    if (linked !== undefined) return linked
    await sleep(HOST_POLL_MS)
  }
  return undefined
}

/** Returns what a host cannot enforce, in the sentences of its agent. */
export async function notEnforcedBy(operator: ApiClient, name: string): Promise<string[]> {
  const { hosts } = await operator.listHosts()
  return hosts.filter((host) => host.name === name).flatMap(({ isolation }) => isolation.missing)
}

/** Whether the plane has this host; after `hosts remove` its agent must enrol again. */
export async function hostIsKnown(operator: ApiClient, hostId: string): Promise<boolean> {
  const { hosts } = await operator.listHosts()
  return hosts.some((host) => host.id === hostId)
}

async function createDemoKey(operator: ApiClient): Promise<string> {
  const userId = (await findDemoUser(operator)) ?? (await operator.createUser({ body: { email: DEMO_EMAIL } })).id
  await operator.setQuotas({ path: { id: userId }, body: DEMO_QUOTA })
  return (await operator.createKey({ path: { id: userId }, body: { name: 'demo' } })).key
}

async function findDemoUser(operator: ApiClient): Promise<string | undefined> {
  const { users } = await operator.listUsers({ query: { email: DEMO_EMAIL } })
  return users.find((user) => user.email === DEMO_EMAIL)?.id
}

async function createEndpoint(rest: ApiClient): Promise<string> {
  return (await rest.createEndpoint({ body: ECHO_ENDPOINT })).id
}

function keyWorks(url: string, key: string): Promise<boolean> {
  return succeeds(() => createApiClient(url, key).listEndpoints(), [401, 403])
}

function endpointExists(rest: ApiClient, id: string): Promise<boolean> {
  return succeeds(() => rest.getEndpoint({ path: { id } }), [404])
}

async function succeeds(ask: () => Promise<unknown>, refusals: readonly number[]): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (error instanceof ApiError && refusals.includes(error.status)) return false
    throw error
  }
}
