import type { Inventory, Workload } from '../../../src/host-protocol/messages.ts'
import { type Account, api, createAccount, env, expect, runDurableObjectAlarm, runInDurableObject } from '../harness.ts'
import { clusterStub } from '../runner/stubs.ts'
import { FakeHost } from './fake-host.ts'
import { GPU, gpus } from './gpus.ts'

export const CLUSTERS = '/v2/clusters'

/** A create body that is accepted when there is capacity for three members. */
export function clusterBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'c', type: 'TRAINING', image: 'acme/train:1', compute: { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: 3 }, ...changes }
}

/** A host that other hosts reach over private networks. */
export function networked(address: string, count = 1, typeId = GPU): Partial<Inventory> {
  return { ...gpus(count, typeId), overlay: { address, reason: null, encryption: 'none' } }
}

/** A member as its REST view shows it, and the host that received it. */
export interface SeenMember {
  id: string
  rank: number
  host: FakeHost
  workload: Workload
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of replies are asserted whole; typing each would say everything twice
type Body = any

/** Hosts of one data center that are played by hand, and the clusters of one account on them. */
export class ClusterScene {
  readonly hosts: FakeHost[]
  readonly account: Account
  readonly dataCenterId: string

  private constructor(hosts: FakeHost[], account: Account, dataCenterId: string) {
    this.hosts = hosts
    this.account = account
    this.dataCenterId = dataCenterId
  }

  static async open(
    count: number,
    inventory: (index: number) => Partial<Inventory> = (index) => networked(`192.0.2.${index + 1}`),
  ): Promise<ClusterScene> {
    const dataCenterId = `DC-${crypto.randomUUID().slice(0, 8)}`
    const hosts = await Promise.all(Array.from({ length: count }, (_, index) => FakeHost.join(inventory(index), { dataCenterId })))
    return new ClusterScene(hosts, await createAccount(), dataCenterId)
  }

  get call() {
    return api(this.account.key)
  }

  /** Adds a host in the same data center. */
  async addHost(inventory: Partial<Inventory>): Promise<FakeHost> {
    const host = await FakeHost.join(inventory, { dataCenterId: this.dataCenterId })
    this.hosts.push(host)
    return host
  }

  body(changes: Record<string, unknown> = {}): Record<string, unknown> {
    return clusterBody({ dataCenterIds: [this.dataCenterId], ...changes })
  }

  async create(changes: Record<string, unknown> = {}): Promise<Body> {
    const reply = await this.call.post(CLUSTERS, this.body(changes))
    expect(reply.body).toMatchObject({ pods: { byStatus: expect.anything() } })
    expect(reply.status).toBe(201)
    return reply.body
  }

  async get(id: string): Promise<Body> {
    const reply = await this.call.get(`${CLUSTERS}/${id}`)
    expect(reply.status).toBe(200)
    return reply.body
  }

  async pods(id: string): Promise<Body[]> {
    const reply = await this.call.get(`${CLUSTERS}/${id}/pods`)
    expect(reply.status).toBe(200)
    return reply.body.pods
  }

  /** The members by rank, each with its newest workload in the desired state of a host. */
  async members(id: string): Promise<SeenMember[]> {
    return (await this.pods(id)).map((pod) => {
      const seen = this.hosts.flatMap((host) =>
        host
          .desired()
          .filter((workload) => workload.id.startsWith(`${pod.id}-`) && workload.desired === 'running')
          .map((workload) => ({ host, workload })),
      )
      const newest = seen.toSorted((a, b) => generation(b.workload) - generation(a.workload))[0]
      if (!newest) throw new Error(`no host was told of member ${pod.cluster.rank}`)
      return { id: pod.id, rank: pod.cluster.rank, ...newest }
    })
  }

  /** Plays the report of every host that its members reach all the others, except for `gaps`. */
  async reach(id: string, { gaps = [] }: { gaps?: { from: string; to: string; reason: string }[] } = {}): Promise<void> {
    const check = await this.checkNumber(id)
    const members = await this.members(id)
    for (const [host, own] of Map.groupBy(members, (member) => member.host)) {
      const ids = own.map((member) => member.id)
      const found = gaps.filter(({ from }) => ids.includes(from))
      const ready = ids.filter((podId) => !found.some(({ from }) => from === podId))
      await clusterStub(env, id).overlayReported(host.id, { overlayId: id, check, ready, gaps: found })
    }
    await this.reconcile(id)
  }

  /** Plays the start of every member that is allowed to start. */
  async run(id: string): Promise<void> {
    for (const { host, workload } of await this.members(id)) {
      if (!workload.prepare) await host.report(workload.id, { state: 'running' })
    }
  }

  /** Creates a cluster and plays it until all members run. */
  async running(changes: Record<string, unknown> = {}): Promise<Body> {
    const { id } = await this.create(changes)
    await this.reach(id)
    await this.run(id)
    return this.get(id)
  }

  /** Runs the reconciliation of the object's timer. */
  async reconcile(id: string): Promise<void> {
    await clusterStub(env, id).reconcile(id)
  }

  /** Advances the clock of a cluster's object. */
  async pass(id: string, ms: number): Promise<void> {
    await runInDurableObject(clusterStub(env, id), (object) => {
      const before = object.now
      object.now = () => before() + ms
    })
    await this.reconcile(id)
  }

  async checkNumber(id: string): Promise<number> {
    const row = await env.DB.prepare('SELECT check_number AS number FROM overlays WHERE owner_id = ?').bind(id).first<{ number: number }>()
    if (!row) throw new Error('the cluster has no network')
    return row.number
  }

  /** Reports that every stopping container is gone, and reconciles. */
  async clear(id: string): Promise<void> {
    for (const host of this.hosts) {
      for (const { id: workloadId, desired } of host.desired()) {
        if (desired === 'stopped') await host.report(workloadId, { state: 'gone' })
      }
    }
    await this.reconcile(id)
  }

  leave(): void {
    for (const host of this.hosts) host.leave()
  }
}

/** The remains of a cluster: its rows, its network, its live members and their reservations. */
export async function remainsOf(id: string): Promise<Record<string, number>> {
  const counts = await env.DB.prepare(
    `SELECT (SELECT COUNT(*) FROM clusters WHERE id = ?1) AS clusters, (SELECT COUNT(*) FROM overlays WHERE owner_id = ?1) AS overlays,
      (SELECT COUNT(*) FROM pods WHERE cluster_id = ?1 AND status <> 'TERMINATED') AS members,
      (SELECT COUNT(*) FROM allocations WHERE owner_id IN (SELECT id FROM pods WHERE cluster_id = ?1)) AS allocations`,
  )
    .bind(id)
    .first<Record<string, number>>()
  return counts ?? {}
}

/** Runs the alarm of a cluster's object, whatever its time. */
export async function ringCluster(id: string): Promise<void> {
  await runDurableObjectAlarm(clusterStub(env, id))
}

function generation({ id }: Workload): number {
  return Number(id.slice(id.lastIndexOf('-') + 1))
}
