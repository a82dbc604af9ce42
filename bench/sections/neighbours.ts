import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { headersOf, JOB_BODY } from '../job-calls.ts'
import type { FloodResult, FloodTarget } from '../load/flood.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { amountRow, type Latencies, latencyRow, percentiles, type Row, ratioRow } from '../report.ts'
import { type BenchPlane, createAccount, createEndpoint, startBaseline, startBenchPlane } from '../setup.ts'

type Call = [method: string, path: string, body?: string]

const PER_SECOND = 50
/** Length of two windows of the limits, in seconds: in each, the flood uses up its ten-second limits first and is quieter afterwards. */
const SECONDS = 20
/** Time until the flood has reached its full rate, milliseconds. */
const RISE_MS = 2_000
const FLOOD = join(import.meta.dirname, '../load/flood.ts')
const WORST_RATIO = 3
/**
 * Niceness of the flood: it gets the processor time that the plane and the measured calls leave, because in production it comes from other
 * machines.
 */
const FLOOD_NICENESS = 10
const MOST_MEGABYTES = 400

/**
 * Latency of one account's calls while another account, and a client without an account, flood the plane, and the memory use afterwards. A
 * trivial Worker is measured under the same flood: its slowdown is due to the runtime (adr/0023), any further slowdown to the plane.
 */
export async function measureNeighbours(): Promise<Row[]> {
  const floor = await measureFloor()
  // An empty value selects the job API limits of a deployed plane.
  await using plane = await startBenchPlane({ JOB_LIMITS: '' })
  const endpointId = await createEndpoint(plane, { min: 0, max: 20 })
  const calls: Record<string, () => Call> = {
    'GET /v2/pods': () => ['GET', '/v2/pods'],
    '/health': () => ['GET', `/v2/${endpointId}/health`],
    '/run': () => ['POST', `/v2/${endpointId}/run`, JOB_BODY],
  }
  const apiKey = await createAccount(plane, 'neighbour@podplane.local')
  const flood = { url: plane.url, apiKey, endpointId: await createEndpoint({ ...plane, apiKey }, { min: 0, max: 20 }) }
  const rows: Row[] = [
    latencyRow('a Worker that only answers, quiet', floor.quiet),
    latencyRow(`a Worker that only answers, beside ${floor.sent} requests`, floor.loud),
  ]
  const megabytes = () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(plane.pid())], { encoding: 'utf8' })) / 1024
  const before = megabytes()
  for (const [name, call] of Object.entries(calls)) {
    const quiet = await measureCalls(plane, call)
    const { measured: loud, sent } = await during(flood, () => measureCalls(plane, call))
    rows.push(latencyRow(`${name}, quiet`, quiet), latencyRow(`${name}, beside ${sent} requests of others`, loud))
    rows.push(ratioRow(`${name}: p50 beside a flood : quiet`, [loud.p50], [quiet.p50], { atMost: WORST_RATIO }))
    rows.push(ratioRow(`${name}: p99 beside a flood : quiet`, [loud.p99], [quiet.p99], { atMost: WORST_RATIO }))
    rows.push(
      ratioRow(`${name}: p99 beside a flood : that of a Worker that only answers`, [loud.p99], [floor.loud.p99], { atMost: WORST_RATIO }),
    )
  }
  rows.push(amountRow('memory of the runtime before the floods', before, 'MB'))
  rows.push(amountRow('more of it after them', megabytes() - before, 'MB', { atMost: MOST_MEGABYTES }))
  return rows
}

/** Slowdown of a Worker that ignores the same requests. */
async function measureFloor() {
  await using baseline = await startBaseline()
  const call = (): Call => ['GET', '/bare']
  const quiet = await measureCalls({ ...baseline, apiKey: 'none' }, call)
  const flood = { url: baseline.url, apiKey: 'none', endpointId: 'none' }
  const { measured: loud, sent } = await during(flood, () => measureCalls({ ...baseline, apiKey: 'none' }, call))
  return { quiet, loud, sent }
}

/** Runs `measure` during the flood, once the flood has reached its full rate. */
async function during<T>(target: FloodTarget, measure: () => Promise<T>): Promise<{ measured: T; sent: number }> {
  const child = fork(FLOOD)
  try {
    if (child.pid !== undefined) setPriority(child.pid, FLOOD_NICENESS)
    child.send(target)
    await sleep(RISE_MS)
    const measured = await measure()
    const over = once(child, 'message') as Promise<[FloodResult]>
    child.send('over')
    const [{ sent, faults }] = await over
    if (faults > 0) throw new Error(`the plane failed ${faults} requests of the flood`)
    return { measured, sent }
  } finally {
    child.kill()
  }
}

/** Latencies of calls at a fixed rate, whether or not earlier ones were answered. */
async function measureCalls(plane: Pick<BenchPlane, 'url' | 'apiKey'>, call: () => Call): Promise<Latencies> {
  const idle: HttpConnection[] = []
  const delays: number[] = []
  const pending: Promise<void>[] = []
  const failed: Error[] = []
  const startedAt = performance.now()
  const send = async () => {
    const [method, path, body] = call()
    const ask = async (connection: HttpConnection) => {
      const sentAt = performance.now()
      const answer = await connection.request(method, path, headersOf(plane), body)
      delays.push(performance.now() - sentAt)
      idle.push(connection)
      if (answer.status !== 200) failed.push(new Error(`${path} answered ${answer.status}: ${answer.body}`))
    }
    const known = idle.pop()
    // A connection that was idle for seconds may have been closed meanwhile.
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
    pending.push(send().catch((error: Error) => void failed.push(error)))
  }
  await Promise.all(pending)
  if (failed[0]) throw new Error(`${failed.length} calls failed, the first: ${failed[0].message}`)
  for (const connection of idle) connection.close()
  return percentiles(delays)
}
