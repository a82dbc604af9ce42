import { getTableColumns, getTableName } from 'drizzle-orm'
import * as schema from '../../../src/db/schema.ts'
import { type Account, api, createAccount, createOrganization, env, expect, joinTeam, runInDurableObject } from '../harness.ts'
import { CLUSTERS, ClusterScene, networked } from '../hosts/cluster-scene.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { gpus } from '../hosts/gpus.ts'
import { PODS, podScene } from '../pods/pod-scene.ts'
import { freezeClock, type QueueSetup, run, runAndTake, setUpQueue } from '../queue/queue.ts'
import { endpointStub } from '../runner/stubs.ts'
import { finishJob, setUpWebhooks, waitForDelivery } from '../webhooks/webhooks.ts'

/** A resource with an owner, which other accounts must neither see nor change. */
export interface Victim {
  owner: Account
  /** The parameters in the paths of its routes: its id first, then those of its parts. */
  params: Readonly<Record<string, string>>
  /** Paths of GETs that show its owner all of it, beside the rows in D1. */
  reads: readonly string[]
  /** The object with its data outside D1, if it has one. */
  objectId?: string
}

const CLUSTER_GPU = 'NVIDIA RTX A5000'

/**
 * One of each kind of resource, by the part of its paths before the first parameter. A documented route with a parameter whose kind has no
 * row here fails the test of foreign ids: a new kind needs one line that makes one.
 */
export const VICTIMS: Readonly<Record<string, () => Promise<Victim>>> = {
  '/v2/serverless/': createEndpointVictim,
  '/v2/': createQueueVictim,
  '/v2/webhooks/deliveries/': createDeliveryVictim,
  '/v2/pods/': createPodVictim,
  '/v2/clusters/': createClusterVictim,
  '/v2/account/keys/': createKeyVictim,
  '/v2/templates/': () => createOf('/v2/templates', { name: crypto.randomUUID(), image: 'acme/idle:1' }),
  '/v2/network-volumes/': () => createOf('/v2/network-volumes', { name: 'data', size: 10, dataCenter: 'EU-RO-1' }),
  '/v2/global-volumes/': () => createOf('/v2/global-volumes', { name: 'models' }),
  '/v2/organizations/': createOrganizationVictim,
  '/v2/account/secrets/': () => createOf('/v2/account/secrets', { name: 'A', value: 'x' }),
  '/v2/registries/delegations/': createDelegationVictim,
  '/v2/spend/stops/': createSpendStopVictim,
  '/v2/registries/': () => createOf('/v2/registries', { name: 'ghcr', username: 'ada', password: 'secret' }),
}

/** All durable state of a victim, as its owner reads it and as D1 and its object hold it, without values that only count time. */
export async function snapshot({ owner, reads, objectId }: Victim): Promise<unknown> {
  const replies: unknown[] = []
  for (const path of reads) {
    const { status, body } = await api(owner.key).get(path)
    replies.push([path, status, withoutClocks(body)])
  }
  return { replies, rows: await rowsOf(owner), object: objectId === undefined ? null : await rowsInside(objectId) }
}

async function createOrganizationVictim(): Promise<Victim> {
  const [owner, member] = [await createAccount(), await createAccount()]
  const id = await createOrganization(owner.key)
  await joinTeam(id, member, 'DEV')
  const path = `/v2/organizations/${id}`
  const { body } = await api(owner.key).post(`${path}/invitations`, { email: 'invited@example.com', role: 'BASIC' })
  return { owner, params: { id, userId: member.userId, invitationId: body.id }, reads: [path, `${path}/invitations`, '/v2/organizations'] }
}

async function createOf(path: string, body: object): Promise<Victim> {
  const owner = await createAccount()
  const reply = await api(owner.key).post(path, body)
  expect(reply.status).toBe(201)
  return { owner, params: { id: reply.body.id }, reads: [path, `${path}/${reply.body.id}`] }
}

async function createDelegationVictim(): Promise<Victim> {
  const owner = await createAccount()
  const resource = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'
  const { body } = await api(owner.key).post('/v2/registries/delegations', { resource })
  return { owner, params: { id: body.id }, reads: ['/v2/registries/delegations'] }
}

async function createSpendStopVictim(): Promise<Victim> {
  const owner = await createAccount()
  const { body } = await api(owner.key).post('/v2/spend/stop', {})
  return { owner, params: { id: body.id }, reads: ['/v2/spend/stops'] }
}

async function createKeyVictim(): Promise<Victim> {
  const owner = await createAccount()
  return { owner, params: { id: owner.keyId }, reads: ['/v2/account/keys'] }
}

/** A queue with a stopped clock: every change in it was made by a call. */
async function setUpStillQueue(): Promise<QueueSetup> {
  const queue = await setUpQueue()
  await freezeClock(queue.endpointId)
  return queue
}

async function createEndpointVictim(): Promise<Victim> {
  const queue = await setUpStillQueue()
  const { worker } = await runAndTake(queue, { of: 'the victim' })
  const path = `/v2/serverless/${queue.endpointId}`
  const parts = ['releases', 'scaling', 'workers', 'builds'].map((part) => `${path}/${part}`)
  return {
    owner: queue.account,
    params: { id: queue.endpointId, workerId: worker.id },
    reads: [path, ...parts],
    objectId: queue.endpointId,
  }
}

async function createQueueVictim(): Promise<Victim> {
  const queue = await setUpStillQueue()
  const { jobId, worker } = await runAndTake(queue, { of: 'the victim' })
  const waiting = await run(queue, { waits: true })
  const { body: bulk } = await queue.post('/requests/retry', { status: ['FAILED'] })
  const reads = ['health', `status/${jobId}`, `status/${waiting}`].map((part) => `/v2/${queue.endpointId}/${part}`)
  const params = { endpointId: queue.endpointId, jobId, route: 'v1/chat/completions', workerId: worker.id, bulkId: bulk.id }
  return { owner: queue.account, params, reads, objectId: queue.endpointId }
}

async function createDeliveryVictim(): Promise<Victim> {
  const setup = await setUpWebhooks()
  const jobId = await finishJob(setup, '/ok')
  const { id } = await waitForDelivery(setup, jobId, 'DELIVERED', 1)
  return { owner: setup.queue.account, params: { id }, reads: ['/v2/webhooks/deliveries'] }
}

async function createPodVictim(): Promise<Victim> {
  const scene = await podScene(gpus(64))
  const { id } = await scene.create()
  // The machine may be another scene's: those of other victims have such GPUs too.
  await FakeHost.startAnywhere(`${id}-1`)
  return { owner: scene.account, params: { id }, reads: [PODS, `${PODS}/${id}`] }
}

async function createClusterVictim(): Promise<Victim> {
  // A GPU type of its own, which no other victim uses.
  const scene = await ClusterScene.open(2, (index) => networked(`192.0.2.${index + 1}`, 2, CLUSTER_GPU))
  const { id } = await scene.running({ compute: { gpuTypeId: CLUSTER_GPU, gpuCountPerPod: 1, podCount: 3 } })
  return { owner: scene.account, params: { id }, reads: [CLUSTERS, `${CLUSTERS}/${id}`, `${CLUSTERS}/${id}/pods`] }
}

function withoutClocks(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body, (name, value) => (/^(uptime\w*|costSoFar|delayTime|last_used_at)$/.test(name) ? undefined : value)),
  )
}

/** All rows of D1 that belong to an account's team. */
async function rowsOf(owner: Account): Promise<unknown> {
  const tables = Object.values(schema).filter((table) => Object.values(getTableColumns(table)).some(({ name }) => name === 'team_id'))
  const names = tables.map(getTableName)
  const rows = await env.DB.batch(
    names.map((name) =>
      env.DB.prepare(`SELECT * FROM ${name} WHERE team_id = (SELECT personal_team_id FROM users WHERE id = ?)`).bind(owner.userId),
    ),
  )
  return withoutClocks(names.map((name, index) => [name, rows[index]?.results]))
}

/** All rows of an endpoint's object. */
export function rowsInside(endpointId: string): Promise<unknown> {
  return runInDurableObject(endpointStub(env, endpointId), (_, { storage: { sql } }) => {
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'").toArray()
    return tables.map(({ name }) => [name, sql.exec(`SELECT * FROM "${name}"`).toArray()])
  })
}
