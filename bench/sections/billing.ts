import type { DatabaseSync } from 'node:sqlite'
import { amountRow, changeRow, median, type Row } from '../report.ts'
import { type BenchPlane, createAccount, startBenchPlane } from '../setup.ts'

const FEW = 10_000
const MANY = 1_000_000
const OTHER_TEAMS = 1_000
const RESOURCES = 100
const ROUNDS = 20
const WARM_UP = 3
const MINUTE_MS = 60_000
const INTERVAL_MS = 10 * MINUTE_MS
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
const MICROS = 73_333

interface Biller {
  apiKey: string
  email: string
}

/** Latency of the bill of the last 30 days, with a year of usage of one account and of many. */
export async function measureBilling(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const few = await newBiller(plane, 'few@podplane.local')
  const many = await newBiller(plane, 'many@podplane.local')
  await plane.rewrite((database) => fill(database, `'${teamOf(database, few)}'`, FEW))
  const alone = await timeBills(plane, few)
  await plane.rewrite((database) => {
    fill(database, `'team-' || (i % ${OTHER_TEAMS})`, MANY)
    fill(database, `'${teamOf(database, many)}'`, MANY)
  })
  const beside = await timeBills(plane, few)
  const large = await timeBills(plane, many)
  return [
    amountRow(`bill of 30 days by day, ${FEW} rows of the team, nothing else`, median(alone), 'ms'),
    amountRow(`the same beside ${2 * MANY} rows of other teams`, median(beside), 'ms'),
    changeRow('  by how much that is longer', beside, alone, { atMost: 0.5 }),
    amountRow(`bill of 30 days by day, ${MANY} rows of the team`, median(large), 'ms', { atMost: 1_000 }),
  ]
}

async function newBiller(plane: BenchPlane, email: string): Promise<Biller> {
  return { email, apiKey: await createAccount(plane, email) }
}

function teamOf(database: DatabaseSync, { email }: Biller): string {
  const row = database.prepare('SELECT personal_team_id AS id FROM users WHERE email = ?').get(email)
  if (!row) throw new Error(`no user ${email}`)
  return String(row.id)
}

// Intervals of ten minutes each, spread evenly over a year and over some pods.
function fill(database: DatabaseSync, team: string, rows: number): void {
  const startMs = Date.now() - YEAR_MS
  database.exec(`INSERT INTO usage (workload_id, sequence, kind, resource_id, team_id, started_at, ended_at, gpu_nanos_per_hour, gpu_micros)
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
    SELECT 'w-' || ${rows} || ${team} || i, i, 'POD', 'pod-' || (i % ${RESOURCES}), ${team}, at, at + ${INTERVAL_MS}, 440000000, ${MICROS}
    FROM (SELECT i, ${startMs} + i * ${Math.floor((YEAR_MS - INTERVAL_MS) / rows)} AS at FROM n)`)
}

/** Returns the latency of each round, milliseconds. */
async function timeBills({ url }: BenchPlane, { apiKey }: Biller): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const startedAt = performance.now()
    const reply = await fetch(`${url}/v2/billing/pods`, { headers: { authorization: `Bearer ${apiKey}` } })
    const { metadata } = (await reply.json()) as { metadata?: { recordCount: number } }
    if (reply.status !== 200 || !metadata || metadata.recordCount < RESOURCES) throw new Error(`no bill: ${reply.status}`)
    if (round >= WARM_UP) times.push(performance.now() - startedAt)
  }
  return times
}
