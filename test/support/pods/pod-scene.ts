import type { Inventory } from '../../../src/host-protocol/messages.ts'
import { type Account, api, createAccount, env, expect, teamOf } from '../harness.ts'
import { FakeHost } from '../hosts/fake-host.ts'
import { GPU, gpus } from '../hosts/gpus.ts'

export const PODS = '/v2/pods'

/** A create body that is accepted when there is a host with capacity. */
export function podBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'p', image: 'acme/idle:1', gpu: { id: GPU }, ...changes }
}

/** The same for a CPU pod. */
export function cpuPodBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return podBody({ gpu: undefined, cpu: { id: 'cpu3c', vcpuCount: 2 }, ...changes })
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of replies are asserted whole; typing each would say everything twice
export type PodBody = any

/** An account with a machine of its own GPU type in the plane; `leave` removes the machine. */
export async function podScene(inventory: Partial<Inventory> = gpus(4)) {
  const host = await FakeHost.join(inventory)
  const account = await createAccount()
  return new PodScene(host, account)
}

/** Calls of one account, and the one machine on which its pods are placed. */
export class PodScene {
  readonly host: FakeHost
  readonly account: Account

  constructor(host: FakeHost, account: Account) {
    this.host = host
    this.account = account
  }

  get call() {
    return api(this.account.key)
  }

  async create(changes: Record<string, unknown> = {}): Promise<PodBody> {
    const reply = await this.call.post(PODS, podBody(changes))
    expect(reply.body).toMatchObject({ status: 'PROVISIONING' })
    expect(reply.status).toBe(201)
    return reply.body
  }

  async createCpu(changes: Record<string, unknown> = {}): Promise<PodBody> {
    return this.create(cpuPodBody(changes))
  }

  async get(id: string): Promise<PodBody> {
    const reply = await this.call.get(`${PODS}/${id}`)
    expect(reply.status).toBe(200)
    return reply.body
  }

  act(id: string, action: string, headers: Record<string, string> = {}) {
    return this.call.post(`${PODS}/${id}/action`, { action }, headers)
  }

  /** Plays the start of the pod's container of that generation. */
  async run(id: string, generation = 1, ports: { private: number; public: number; type: string }[] = []): Promise<void> {
    await this.host.waitFor((workload) => workload.id === `${id}-${generation}`)
    await this.host.report(`${id}-${generation}`, { state: 'running', ports })
  }

  /** Ends a pod and its container, so that its capacity is free again. */
  async end(id: string, generation = 1): Promise<void> {
    await this.act(id, 'terminate')
    await this.host.waitFor((workload) => workload.id === `${id}-${generation}` && workload.desired === 'stopped')
    await this.host.report(`${id}-${generation}`, { state: 'gone' })
  }

  async team(): Promise<string> {
    return teamOf(this.account)
  }

  leave(): void {
    this.host.leave()
  }
}

/** Puts a pod into a state that no played host produces. */
export async function setPod(id: string, columns: Record<string, string | number | null>): Promise<void> {
  const names = Object.keys(columns)
  await env.DB.prepare(`UPDATE pods SET ${names.map((name) => `${name} = ?`).join()} WHERE id = ?`)
    .bind(...Object.values(columns), id)
    .run()
}

/** Writes `count` copies of a pod, each created a millisecond after the previous one, from 1000 on, with other values in some columns. */
export async function manyPods(id: string, count: number, columns: Record<string, string>): Promise<void> {
  const { results } = await env.DB.prepare('SELECT name FROM pragma_table_info(?)').bind('pods').all<{ name: string }>()
  const kept = results.map(({ name }) => name).filter((name) => !['id', 'created_at', ...Object.keys(columns)].includes(name))
  const changed = Object.keys(columns)
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO pods (id, created_at, ${[...changed, ...kept].join()})
      SELECT id || i, 1000 + i, ${[...changed.map(() => '?'), ...kept].join()} FROM n, pods WHERE id = ?`,
  )
    .bind(count, ...Object.values(columns), id)
    .run()
}
