import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatApiKey } from '../../src/domain/access.ts'
import { headersOf, JOB_BODY } from '../job-calls.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { amountRow, type Latencies, latencyRow, percentiles, type Row, ratioRow } from '../report.ts'
import { type BenchPlane, createAccount, createEndpoint, startBenchPlane } from '../setup.ts'

const PER_SECOND = 50
const SECONDS = 8
/** Time for the flood to be at its full height. */
const RISE_MS = 2_000
const MEMBERS = 800_000
const SERVER_FAULT = 500
const WORST_RATIO = 3
const MOST_MEGABYTES = 400

/** One kind of request of the neighbour, on so many connections, each as soon as the one before is answered. */
interface Flood {
  connections: number
  send(connection: HttpConnection, n: number): Promise<{ status: number }>
}

/** How long the calls of one account take while another, and nobody, send all that they can; and what that leaves in memory. */
export async function measureNeighbours(): Promise<Row[]> {
  // The limits of the job API are those of a deployed plane.
  await using plane = await startBenchPlane({ JOB_LIMITS: '' })
  const endpointId = await createEndpoint(plane, { min: 0, max: 20 })
  const calls: Record<string, () => [method: string, path: string, body?: string]> = {
    'GET /v2/pods': () => ['GET', '/v2/pods'],
    '/health': () => ['GET', `/v2/${endpointId}/health`],
    '/run': () => ['POST', `/v2/${endpointId}/run`, JOB_BODY],
  }
  const flood = await floodOf(plane)
  const rows: Row[] = []
  const megabytes = () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(plane.pid())], { encoding: 'utf8' })) / 1024
  const before = megabytes()
  for (const [name, call] of Object.entries(calls)) {
    const quiet = await measureCalls(plane, call)
    const { latencies: loud, sent } = await during(plane, flood, () => measureCalls(plane, call))
    rows.push(latencyRow(`${name}, quiet`, quiet), latencyRow(`${name}, beside ${sent} requests of others`, loud))
    rows.push(ratioRow(`${name}: p99 beside a flood : quiet`, [loud.p99], [quiet.p99], { atMost: WORST_RATIO }))
  }
  rows.push(amountRow('memory of the runtime before the floods', before, 'MB'))
  rows.push(amountRow('more of it after them', megabytes() - before, 'MB', { atMost: MOST_MEGABYTES }))
  return rows
}

/** What a neighbour with an account and default quotas can think of, and somebody without one. */
async function floodOf(plane: BenchPlane): Promise<Flood[]> {
  const apiKey = await createAccount(plane, 'neighbour@podplane.local')
  const headers = headersOf({ apiKey })
  const own = await createEndpoint({ ...plane, apiKey }, { min: 0, max: 20 })
  const wide = `{"input":{},${Array.from({ length: MEMBERS }, (_, i) => `"k${i}":1`).join(',')}}`
  const stranger = () => ({ authorization: `Bearer ${formatApiKey('0000000000', randomBytes(32))}` })
  const random = () => randomBytes(7).toString('hex')
  return [
    { connections: 8, send: (connection) => connection.request('GET', '/v2/pods', stranger()) },
    { connections: 2, send: (connection) => connection.request('GET', `/v2/${random()}/health`, { authorization: 'Bearer pp_nonsense' }) },
    { connections: 4, send: (connection) => connection.request('GET', `/v2/${random()}/health`, headers) },
    {
      connections: 2,
      send: (connection, n) => {
        const authorization = `Bearer${' '.repeat(1 + (n % 400))}${apiKey}`
        return connection.request('GET', `/v2/${own}/health`, { authorization })
      },
    },
    { connections: 4, send: (connection) => connection.request('POST', `/v2/${own}/run`, headers, JOB_BODY) },
    { connections: 1, send: (connection) => connection.request('POST', `/v2/${own}/run`, headers, wide) },
  ]
}

async function during(plane: BenchPlane, floods: readonly Flood[], measure: () => Promise<Latencies>) {
  let isOver = false
  let sent = 0
  let faults = 0
  const pour = async (flood: Flood) => {
    let connection = await HttpConnection.open(plane.url)
    for (let n = 0; !isOver; n += 1) {
      try {
        if ((await flood.send(connection, n)).status >= SERVER_FAULT) faults += 1
      } catch {
        // A body that was refused before its end: the connection is cut, and the flood goes on over another.
        connection.close()
        connection = await HttpConnection.open(plane.url)
      }
      sent += 1
    }
    connection.close()
  }
  const pouring = Promise.all(floods.flatMap((flood) => Array.from({ length: flood.connections }, () => pour(flood))))
  await sleep(RISE_MS)
  const latencies = await measure()
  isOver = true
  await pouring
  if (faults > 0) throw new Error(`the plane failed ${faults} requests of the flood`)
  return { latencies, sent }
}

/** Milliseconds of calls that are sent at a fixed rate, whether or not earlier ones were answered. */
async function measureCalls(plane: BenchPlane, call: () => [method: string, path: string, body?: string]): Promise<Latencies> {
  const idle: HttpConnection[] = []
  const delays: number[] = []
  const pending: Promise<void>[] = []
  const failed: Error[] = []
  const startedAt = performance.now()
  const once = async () => {
    const [method, path, body] = call()
    const ask = async (connection: HttpConnection) => {
      const sentAt = performance.now()
      const answer = await connection.request(method, path, headersOf(plane), body)
      delays.push(performance.now() - sentAt)
      idle.push(connection)
      if (answer.status !== 200) failed.push(new Error(`${path} answered ${answer.status}: ${answer.body}`))
    }
    const known = idle.pop()
    // One that was idle for seconds may have been closed meanwhile.
    const isAnswered =
      known !== undefined &&
      (await ask(known).then(
        () => true,
        () => false,
      ))
    if (!isAnswered) await ask(await HttpConnection.open(plane.url))
  }
  for (let index = 0; index < PER_SECOND * SECONDS; index += 1) {
    const due = startedAt + (index * 1000) / PER_SECOND
    while (performance.now() < due) await sleep(Math.max(0, due - performance.now()))
    pending.push(once().catch((error: Error) => void failed.push(error)))
  }
  await Promise.all(pending)
  if (failed[0]) throw new Error(`${failed.length} calls failed, the first: ${failed[0].message}`)
  for (const connection of idle) connection.close()
  return percentiles(delays)
}
