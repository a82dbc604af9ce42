import { type Account, api, createKey, env, teamOf } from '../harness.ts'

/** Inserts a pod as its create would, so that the resources that it names are in use. */
export async function insertPod(
  teamId: string,
  columns: Partial<Record<PodReference, string>> & { status?: string } = {},
): Promise<string> {
  const id = crypto.randomUUID()
  const row: Record<string, string | number> = {
    id,
    team_id: teamId,
    name: 'pod',
    status: 'RUNNING',
    version: 1,
    generation: 1,
    spec: '{}',
    keeps_disk: 0,
    disk_stale: 0,
    host_lost: 0,
    locked: 0,
    host_id: 'host',
    data_center_id: 'EU-RO-1',
    vcpus: 1,
    memory_mb: 1,
    ports: '[]',
    ssh_suffix: '00000000',
    price_per_hour: 0,
    changed_at: 1,
    created_at: 1,
    ...columns,
  }
  const names = Object.keys(row)
  await env.DB.prepare(`INSERT INTO pods (${names.join()}) VALUES (${names.map(() => '?').join()})`)
    .bind(...Object.values(row))
    .run()
  return id
}
type PodReference = 'template_id' | 'network_volume_id' | 'global_volume_id' | 'registry_id'

/** Inserts `count` more pods like one of `insertPod`. */
export async function copyPod(id: string, count: number): Promise<void> {
  const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info('pods') WHERE name <> 'id'").all<{ name: string }>()
  const columns = results.map(({ name }) => name).join()
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO pods (id, ${columns}) SELECT hex(randomblob(7)) || n.i, ${columns} FROM pods, n WHERE id = ?`,
  )
    .bind(count, id)
    .run()
}

/** Ends a pod of `insertPod`. */
export async function terminatePod(id: string): Promise<void> {
  await env.DB.prepare("UPDATE pods SET status = 'TERMINATED' WHERE id = ?").bind(id).run()
}

/** Inserts a machine as its enrolment would, in a data center of that id. */
export async function insertHostIn(dataCenterId: string, status = 'OFFLINE'): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO hosts (id, name, data_center_id, status, public_key_x, epoch, inventory, vcpu_total, vcpu_free, memory_mb_total,
      memory_mb_free, disk_gb_total, disk_gb_free, created_at) VALUES (?, 'h', ?, ?, 'x', 1, '{}', 1, 1, 1, 1, 1, 1, 1)`,
  )
    .bind(crypto.randomUUID(), dataCenterId, status)
    .run()
}

/** The answer of each method to a key of the account with one scope alone. */
export async function statusesWith(account: Account, scope: string, calls: readonly [string, string, unknown?][]): Promise<number[]> {
  const { key } = await createKey(account.userId, { permission: 'RESTRICTED', scopes: [scope] })
  const caller = api(key)
  const statuses: number[] = []
  for (const [method, path, body] of calls) statuses.push((await caller[method as 'get'](path, body)).status)
  return statuses
}

/** Fills the account up to the bound of its resources by SQL, with rows that are copies of the one it has. */
export async function multiply(table: string, columns: string, account: Account, count: number): Promise<void> {
  const teamId = await teamOf(account)
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO ${table} (id, team_id, ${columns}) SELECT hex(randomblob(7)) || n.i, team_id, ${columns.replace('name', 'name || n.i')}
     FROM ${table}, n WHERE team_id = ?`,
  )
    .bind(count, teamId)
    .run()
}
