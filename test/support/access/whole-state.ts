import { env } from '../harness.ts'
import { until } from '../time.ts'
import { rowsInside } from './victims.ts'

/** All data of D1 and of the object of an endpoint, without values that only count time. */
export async function wholeState(endpointId: string | undefined): Promise<string> {
  const { results } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '[_s]*'").all<{
    name: string
  }>()
  const tables = await env.DB.batch(results.map(({ name }) => env.DB.prepare(`SELECT * FROM ${name}`)))
  const rows = results.map(({ name }, index) => [name, tables[index]?.results])
  const inside = endpointId === undefined ? null : await rowsInside(endpointId)
  return JSON.stringify([rows, inside], (name, value) => (/^(last_used_at|last_seen_at|lastSeenAtMs)$/.test(name) ? undefined : value))
}

/** The whole state, once no setup for the test is under way. */
export async function settledState(endpointId: string | undefined): Promise<string> {
  let seen = ''
  await until(async () => {
    const now = await wholeState(endpointId)
    const isSame = now === seen
    seen = now
    return isSame
  })
  return seen
}
