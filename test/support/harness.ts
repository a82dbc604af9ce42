// The one file that knows the test runner and its runtime; tests import everything from here.
import {
  createExecutionContext,
  evictDurableObject,
  runInDurableObject as inspectObject,
  listDurableObjectIds,
  runDurableObjectAlarm,
} from 'cloudflare:test'
import { exports, env as rawEnv } from 'cloudflare:workers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WALL_CLOCK } from '../../durable-objects/clock/wall-clock.ts'
import type { ClusterObject } from '../../durable-objects/cluster.ts'
import type { EndpointObject } from '../../durable-objects/endpoint.ts'
import type { HostObject } from '../../durable-objects/host.ts'
import type { HostTunnelObject } from '../../durable-objects/host-tunnel.ts'
import type { PodLogObject } from '../../durable-objects/pod-log.ts'
import type { RateLimiterObject } from '../../durable-objects/rate-limiter.ts'
import type { WebhookSenderObject } from '../../durable-objects/webhook-sender.ts'
import type { Role } from '../../src/domain/access.ts'
import type { Env } from '../../src/env.ts'
import type { ClusterRpc } from '../../src/rpc/cluster.ts'
import type { EndpointRpc } from '../../src/rpc/endpoint.ts'
import type { HostRpc } from '../../src/rpc/host.ts'
import type { HostTunnelRpc } from '../../src/rpc/host-tunnel.ts'
import type { PodLogRpc } from '../../src/rpc/pod-log.ts'
import type { RateLimiterRpc } from '../../src/rpc/rate-limiter.ts'
import type { WebhookSenderRpc } from '../../src/rpc/webhook-sender.ts'
import { answerFault } from './openapi/answers.ts'

const readWallMs = WALL_CLOCK.readMs
// A test that has set `Date` has set the wall clock.
WALL_CLOCK.readMs = (storage) => (vi.isFakeTimers() ? Date.now() : readWallMs(storage))

export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  createExecutionContext,
  describe,
  evictDurableObject,
  expect,
  it,
  listDurableObjectIds,
  onTestFinished,
  runDurableObjectAlarm,
  vi,
}

/** The class behind a stub: tests access members that are not in the interfaces of the plane. */
type ClassOf<Rpc> = Rpc extends EndpointRpc
  ? EndpointObject
  : Rpc extends HostRpc
    ? HostObject
    : Rpc extends PodLogRpc
      ? PodLogObject
      : Rpc extends WebhookSenderRpc
        ? WebhookSenderObject
        : Rpc extends RateLimiterRpc
          ? RateLimiterObject
          : Rpc extends HostTunnelRpc
            ? HostTunnelObject
            : Rpc extends ClusterRpc
              ? ClusterObject
              : never

/** Runs a function inside the object of a stub, with its storage. */
export function runInDurableObject<ViewState extends Rpc.DurableObjectBranded, Result>(
  stub: DurableObjectStub<ViewState>,
  check: (object: ClassOf<ViewState>, state: DurableObjectState) => Result | Promise<Result>,
): Promise<Result> {
  return inspectObject(stub as unknown as DurableObjectStub<ClassOf<ViewState>>, check)
}

/** Bindings of the Worker under test. */
export const env = rawEnv as unknown as Env & { OPERATOR_KEY: string }
/** The origin that requests of the tests name. */
export const ORIGIN = 'http://plane.test'

export interface Account {
  userId: string
  keyId: string
  key: string
  email: string
}

export interface Reply {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: bodies of replies are asserted whole; typing each would say everything twice
  body: any
}

/** Sends a request through the whole Worker. An answer that does not match its document fails the test (DOC-13). */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const worker = (exports as unknown as { default: Fetcher }).default
  const url = new URL(path.startsWith('http') ? path : ORIGIN + path)
  const response = await worker.fetch(new Request(url, { redirect: 'manual', ...init }))
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  const text = isJson ? await response.clone().text() : null
  const fault = answerFault({ method: init.method ?? 'GET', url, status: response.status, headers: response.headers, text })
  if (fault !== null) throw new Error(`the answer is not as documented: ${fault}`)
  return response
}

/** Calls the API with a key (null: without one). Bodies are sent as JSON and returned parsed. */
export function api(key: string | null) {
  const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }
  const call =
    (method: string) =>
    async (path: string, body?: unknown, extra: Record<string, string> = {}): Promise<Reply> => {
      const withBody = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
      const response = await send(path, { method, headers: { ...headers, ...type, ...extra }, ...withBody })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: parse(text) }
    }
  return { get: call('GET'), post: call('POST'), patch: call('PATCH'), put: call('PUT'), delete: call('DELETE') }
}

/** Calls the operator API. */
export function admin() {
  return api(env.OPERATOR_KEY)
}

/** A fresh user with one key, through the operator API; by default exempt from REST limits. */
export async function createAccount(options: { exempt?: boolean; key?: Record<string, unknown> } = {}): Promise<Account> {
  const email = `${crypto.randomUUID()}@example.com`
  const user = await admin().post('/admin/v1/users', { email })
  expect(user.status).toBe(201)
  if (options.exempt ?? true) {
    await admin().put(`/admin/v1/users/${user.body.id}/quotas`, { minute: 60, hour: 3000, day: 50000, exempt: true })
  }
  const key = await createKey(user.body.id, options.key)
  return { userId: user.body.id, email, keyId: key.id, key: key.key }
}

/** Creates another key of a user. */
export async function createKey(userId: string, body: Record<string, unknown> = {}): Promise<{ id: string; key: string }> {
  const reply = await admin().post(`/admin/v1/users/${userId}/keys`, { name: 'test', ...body })
  expect(reply.status).toBe(201)
  return reply.body
}

/** The team of an account, which no API shows. */
export async function teamOf(account: Account): Promise<string> {
  const row = await env.DB.prepare('SELECT personal_team_id AS id FROM users WHERE id = ?').bind(account.userId).first<{ id: string }>()
  if (!row) throw new Error('no such user')
  return row.id
}

/** Makes the user of an account a member of a team with this role. */
export async function joinTeam(teamId: string, { userId }: Pick<Account, 'userId'>, role: Role): Promise<void> {
  const sql = `INSERT INTO memberships (team_id, user_id, role, created_at) VALUES (?, ?, ?, 0) ON CONFLICT DO UPDATE SET role = excluded.role`
  await env.DB.prepare(sql).bind(teamId, userId, role).run()
}

/** Creates an organization with a key and returns its id. */
export async function createOrganization(key: string): Promise<string> {
  const reply = await api(key).post('/v2/organizations', { name: 'Acme' })
  expect(reply.status).toBe(201)
  return reply.body.id
}

/** A key that a member has created in a team. */
export async function createKeyIn(teamId: string, { userId }: Pick<Account, 'userId'>, body: Record<string, unknown> = {}) {
  const key = await createKey(userId, body)
  await env.DB.prepare('UPDATE api_keys SET team_id = ? WHERE id = ?').bind(teamId, key.id).run()
  return key
}

export const newPlanName = (): string => `plan-${crypto.randomUUID()}`

/** Creates a plan and returns its name (PLAN-1). */
export async function createPlan(limits: object = {}): Promise<string> {
  const name = newPlanName()
  const reply = await admin().put(`/admin/v1/plans/${name}`, limits)
  if (reply.status !== 200) throw new Error(`no plan: ${reply.status}`)
  return name
}

/** A create body that is accepted. */
export function endpointBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'echo', image: 'builtin/echo', gpu: { pools: ['ADA_24'] }, ...changes }
}

/** The error for an invalid image reference. */
export const IMAGE_REFUSAL = '$.image: want an image reference such as docker.io/library/nginx:1.27, without https://'

/** Creates an endpoint and returns its id. */
export async function createEndpoint(key: string, changes: Record<string, unknown> = {}): Promise<string> {
  const reply = await api(key).post('/v2/serverless', endpointBody(changes))
  expect(reply.status).toBe(201)
  return reply.body.id
}

function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
