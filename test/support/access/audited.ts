import { adminDocument } from '../../../src/http/admin-api.ts'
import {
  type Account,
  admin,
  api,
  createAccount,
  createKey,
  createOrganization,
  createPlan,
  env,
  joinTeam,
  newPlanName,
  teamOf,
} from '../harness.ts'
import { ClusterScene } from '../hosts/cluster-scene.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { Browser } from '../http/browser.ts'
import { DOCUMENTED, documentedIn, type Operation } from './operations.ts'
import { VICTIMS, type Victim } from './victims.ts'

// Calls for each operation that changes something: with success, and by a caller who is not permitted.

/** The arguments of an operation's call. */
export interface Call {
  /** The key that permits the call. */
  key: string
  params: Readonly<Record<string, string>>
  body?: object
}

/** Operations that change nothing of an account's, and work itself: by method and path, with the reason. */
export const EXEMPT: Readonly<Record<string, string>> = {
  'post /v2/{endpointId}/run': 'work',
  'post /v2/{endpointId}/requests/retry': 'work, as that of one job; what it begins has its own row',
  'post /v2/{endpointId}/runsync': 'work',
  'post /v2/{endpointId}/retry/{jobId}': 'work',
  'post /v2/{endpointId}/openai/{route}': 'work',
  'put /v2/{endpointId}/openai/{route}': 'work',
  'patch /v2/{endpointId}/openai/{route}': 'work',
  'delete /v2/{endpointId}/openai/{route}': 'work',
  'post /v2/{endpointId}/status/{jobId}': 'reads',
  'post /v2/{endpointId}/status-sync/{jobId}': 'reads',
  'post /v2/{endpointId}/stream/{jobId}': 'reads',
}

/** Operations that change more than one resource, and so write a row for each. */
export const ROWS: Readonly<Record<string, number>> = {
  'post /v2/organizations/{id}/hand-over': 2,
}

export const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

/** Every operation of both documents that is no GET and not exempt. */
export const AUDITED: readonly Operation[] = [...DOCUMENTED, ...documentedIn(adminDocument())].filter(
  (operation) => operation.method !== 'get' && !(nameOf(operation) in EXEMPT),
)

/** The call with which an operation succeeds. An operation with an id gets a resource of its own; the body is the document's example. */
export function callOf(operation: Operation): Promise<Call> {
  const special = SPECIAL[nameOf(operation)]
  if (special) return special()
  if (operation.path.startsWith('/admin/')) return adminCall(operation.path)
  if (!operation.path.includes('{')) return ownCall()
  const make = VICTIMS[operation.path.slice(0, operation.path.indexOf('{'))]
  if (!make) throw new Error(`no victim for ${operation.path}: add a row to VICTIMS in test/support/access/victims.ts`)
  return make().then(ofVictim)
}

/** Operations for which the example of the document is not enough. */
const SPECIAL: Readonly<Record<string, () => Promise<Call>>> = {
  'post /v2/organizations/invitations/accept': invited,
  'post /v2/organizations/invitations/decline': invited,
  'post /v2/organizations/{id}/hand-over': async () => {
    const [owner, member] = [await createAccount(), await createAccount()]
    const id = await createOrganization(owner.key)
    await joinTeam(id, member, 'ADMIN')
    return { key: owner.key, params: { id }, body: { userId: member.userId } }
  },
  'post /v2/clusters': async () => {
    const scene = await ClusterScene.open(3)
    return { key: scene.account.key, params: {}, body: scene.body() }
  },
  // A user who has never signed in has no identities to delete.
  'delete /admin/v1/users/{id}/identities': async () => {
    const { userId } = await createAccount()
    await env.DB.prepare("INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ('https://id.example.com', ?, ?, 0)")
      .bind(crypto.randomUUID(), userId)
      .run()
    return { key: env.OPERATOR_KEY, params: { id: userId } }
  },
  // A signed-in user can be signed out.
  'delete /admin/v1/users/{id}/sessions': async () => {
    const { userId, key } = await createAccount()
    await Browser.signedIn(key)
    return { key: env.OPERATOR_KEY, params: { id: userId } }
  },
  'post /admin/v1/sign-in-links': async () => ({
    key: env.OPERATOR_KEY,
    params: {},
    body: { userId: (await createAccount()).userId },
  }),
  'put /admin/v1/plans/{name}': async () => ({ key: env.OPERATOR_KEY, params: { name: newPlanName() } }),
  'delete /admin/v1/plans/{name}': async () => ({ key: env.OPERATOR_KEY, params: { name: await createPlan() } }),
  'put /admin/v1/users/{id}/plan': async () => planned((await createAccount()).userId),
  'put /admin/v1/organizations/{id}/plan': async () => planned(await createOrganization((await createAccount()).key)),
  // A quota that was never set cannot be deleted.
  'delete /admin/v1/users/{id}/quotas': async () => {
    const { userId } = await createAccount({ exempt: true })
    return { key: env.OPERATOR_KEY, params: { id: userId } }
  },
  'post /v2/pods': async () => {
    await FakeHost.join()
    return ownCall()
  },
}

async function planned(id: string): Promise<Call> {
  return { key: env.OPERATOR_KEY, params: { id }, body: { plan: await createPlan() } }
}

async function invited(): Promise<Call> {
  const [owner, guest] = [await createAccount(), await createAccount()]
  const path = `/v2/organizations/${await createOrganization(owner.key)}/invitations`
  const { body } = await api(owner.key).post(path, { email: guest.email, role: 'DEV' })
  return { key: guest.key, params: {}, body: { token: body.token } }
}

function ofVictim({ owner, params }: Victim): Call {
  return { key: owner.key, params }
}

async function ownCall(): Promise<Call> {
  return { key: (await createAccount()).key, params: {} }
}

const ADMIN_IDS: Readonly<Record<string, () => Promise<string>>> = {
  '/admin/v1/users/': async () => (await createAccount()).userId,
  '/admin/v1/organizations/': async () => createOrganization((await createAccount()).key),
  '/admin/v1/keys/': async () => (await createKey((await createAccount()).userId)).id,
  '/admin/v1/hosts/': async () => (await FakeHost.enrol()).id,
  '/admin/v1/deleted-volumes/': async () => {
    const { key } = await createAccount()
    const { id } = (await api(key).post('/v2/global-volumes', { name: 'gone' })).body
    // A volume that no host ever had is wiped as soon as it is deleted (EDG-3).
    await env.DB.prepare('INSERT INTO volume_hosts VALUES (?, ?, 1, NULL)')
      .bind(id, (await FakeHost.enrol()).id)
      .run()
    await api(key).delete(`/v2/global-volumes/${id}`)
    return id
  },
  '/admin/v1/catalog/gpus/': () => catalogId('gpus', 'NVIDIA L4'),
  '/admin/v1/catalog/cpus/': () => catalogId('cpus', 'cpu3c'),
  '/admin/v1/catalog/datacenters/': () => catalogId('datacenters', 'EU-RO-1'),
  '/admin/v1/catalog/storage/': () => catalogId('storage', 'persistentDisk'),
  '/admin/v1/catalog/publishers/': async () => {
    const id = await teamOf(await createAccount())
    await admin().put(`/admin/v1/catalog/publishers/${id}`, { source: 'verified' })
    return id
  },
  '/admin/v1/join-tokens/': async () => (await admin().post('/admin/v1/join-tokens', { name: 'spare' })).body.id,
}

/** An empty entry, which an operation can change and revert. */
async function catalogId(part: string, id: string): Promise<string> {
  await admin().put(`/admin/v1/catalog/${part}/${encodeURIComponent(id)}`, {})
  return id
}

async function adminCall(path: string): Promise<Call> {
  const make = path.includes('{') ? ADMIN_IDS[path.slice(0, path.indexOf('{'))] : undefined
  if (path.includes('{') && !make) throw new Error(`no id for ${path}: add a row to ADMIN_IDS`)
  const unique = path === '/admin/v1/users' ? { body: { email: `${crypto.randomUUID()}@example.com` } } : {}
  return { key: env.OPERATOR_KEY, params: make ? { id: await make() } : {}, ...unique }
}

export interface StoredAudit {
  id: string
  at: number
  teamId: string | null
  actorKind: string
  userId: string | null
  credentialId: string | null
  action: string
  resourceKind: string
  resourceId: string
  requestId: string | null
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** The rows of the audit log that match an SQL condition, oldest first. */
export async function auditRows(where: string, ...values: unknown[]): Promise<StoredAudit[]> {
  const { results } = await env.DB.prepare(
    `SELECT id, at, team_id AS teamId, actor_kind AS actorKind, user_id AS userId, credential_id AS credentialId, action,
      resource_kind AS resourceKind, resource_id AS resourceId, request_id AS requestId, before, after
      FROM audit WHERE ${where} ORDER BY at, rowid`,
  )
    .bind(...values)
    .all<StoredAudit & { before: string | null; after: string | null }>()
  return results.map((row) => ({ ...row, before: parse(row.before), after: parse(row.after) }))
}

/** The rows of an account, oldest first. */
export async function auditOf(account: Account): Promise<StoredAudit[]> {
  return auditRows('team_id = ?', await teamOf(account))
}

function parse(text: unknown): Record<string, unknown> | null {
  return text === null ? null : JSON.parse(String(text))
}
