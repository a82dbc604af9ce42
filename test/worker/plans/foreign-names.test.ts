import { callOf, nameOf } from '../../support/access/audited.ts'
import { DOCUMENTED, fill } from '../../support/access/operations.ts'
import { describe, env, expect, it, send } from '../../support/harness.ts'

const PLANNABLE = DOCUMENTED.filter(({ method, isPlannable }) => method !== 'get' && isPlannable)
/** The tables of objects of an account, with the column that names the owner. */
const OWNED: Readonly<Record<string, string>> = {
  pods: 'team_id',
  endpoints: 'team_id',
  clusters: 'team_id',
  network_volumes: 'team_id',
  global_volumes: 'team_id',
  templates: 'team_id',
  registries: 'team_id',
  secrets: 'team_id',
  api_keys: 'team_id',
  teams: 'id',
}

/** Ids of all objects of accounts other than these teams. */
async function foreignIds(teams: readonly string[]): Promise<string[]> {
  const holes = teams.map(() => '?').join(', ')
  const found = await env.DB.batch<{ id: string }>(
    Object.entries(OWNED).map(([table, column]) =>
      env.DB.prepare(`SELECT id FROM ${table} WHERE ${column} NOT IN (${holes})`).bind(...teams),
    ),
  )
  return found.flatMap(({ results }) => results.map(({ id }) => id))
}

/** The teams that a key may act for. */
async function teamsOf(key: string): Promise<string[]> {
  const id = key.split('_')[1]
  const query = `SELECT m.team_id FROM memberships m JOIN api_keys k ON k.user_id = m.user_id WHERE k.id = ? OR instr(?, k.id) > 0`
  const { results } = await env.DB.prepare(query).bind(id, key).all<{ team_id: string }>()
  return results.map(({ team_id }) => team_id)
}

/** Each test adds an account, so later plans run beside many other accounts. */
describe('[DRY-31] the plan of a change', () => {
  it.each(PLANNABLE.map((operation) => ({ name: nameOf(operation), operation })))(
    '$name names nothing of other accounts',
    async ({ operation }) => {
      const { key, params, body = operation.body } = await callOf(operation)
      const teams = await teamsOf(key)
      expect(teams.length).toBeGreaterThan(0)
      const response = await send(`${fill(operation.path, params)}?dryRun=true`, {
        method: operation.method.toUpperCase(),
        headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      const others = await foreignIds(teams)
      expect(others.filter((id) => text.includes(id))).toEqual([])
    },
  )
})
