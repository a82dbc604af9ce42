import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerAccess } from '../fake-host.ts'
import { headersOf, JOB_BODY, queueLength } from '../job-calls.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { postResult, takeJobs } from '../load/worker-loop.ts'
import { type Latencies, latencyRow, percentiles, type Row } from '../report.ts'
import { type Queue, startBaseline, startBenchPlane, startQueue } from '../setup.ts'

const PARKED = 400
const WAKE_SAMPLES = 400
const FLOOR_SAMPLES = 1_000
const STEADY_PER_SECOND = 200
const STEADY_SECONDS = 3
/** Time for the workers' takes to reach the object before the first submit, milliseconds. */
const PARK_MS = 500
const TARGET: Latencies = { p50: 1, p99: 3 }

/** Latencies of waiting callers, compared with the time that client and machine need for the simplest answers. */
export async function measureLatency(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  await using baseline = await startBaseline()
  const queue = await startQueue(plane)
  const floor = async (what: string, path: string, body?: string) => latencyRow(what, await measureFloor(baseline.url, path, body))
  return [
    await floor('floor: bare handler', '/bare'),
    await floor('floor: bare object call', '/rpc'),
    await floor('floor: naive insert', '/insert', JOB_BODY),
    latencyRow(`result to waiting /runsync, ${PARKED} waiting`, await measureParkedReplies(queue), TARGET),
    latencyRow(`submit to waiting worker, ${queue.workers.length} waiting`, await measureWakeUps(queue), TARGET),
    latencyRow(`/run at a steady ${STEADY_PER_SECOND}/s`, await measureAtRate(queue)),
  ]
}

/** Latencies of sequential requests. */
async function measureFloor(url: string, path: string, body: string | undefined): Promise<Latencies> {
  const connection = await HttpConnection.open(url)
  const delays: number[] = []
  for (let sample = 0; sample < FLOOR_SAMPLES; sample += 1) {
    const startedAt = performance.now()
    await connection.request(body === undefined ? 'GET' : 'POST', path, {}, body)
    delays.push(performance.now() - startedAt)
  }
  connection.close()
  return percentiles(delays)
}

/** Arrival time of each job at a waiting caller. A caller may ask for the time before or after the arrival. */
class Arrivals {
  private readonly known = new Map<string, PromiseWithResolvers<number>>()

  of(jobId: string): PromiseWithResolvers<number> {
    const entry = this.known.get(jobId) ?? Promise.withResolvers<number>()
    this.known.set(jobId, entry)
    return entry
  }
}

/** Milliseconds from posting a result to the answer of the `/runsync` call that waits for it. */
async function measureParkedReplies(queue: Queue): Promise<Latencies> {
  const [worker] = queue.workers
  const [connection, ...callers] = await openMany(queue.url, 1 + PARKED)
  if (connection === undefined || worker === undefined) throw new Error('nobody can take the jobs')
  const arrivals = new Arrivals()
  for (const caller of callers) {
    const answer = caller.request('POST', `/v2/${queue.endpointId}/runsync`, headersOf(queue), JOB_BODY)
    void answer.then(({ body }) => arrivals.of(JSON.parse(body).id).resolve(performance.now()))
  }
  while ((await queueLength(queue)) < PARKED) await sleep(10)
  const delays: number[] = []
  for (let taken = 0; taken < PARKED; taken += 1) {
    const [job] = await takeJobs(connection, worker, 1)
    if (job === undefined) throw new Error('the queue is empty')
    const postedAt = performance.now()
    await postResult(connection, worker, job)
    delays.push((await arrivals.of(job.id).promise) - postedAt)
  }
  for (const open of [connection, ...callers]) open.close()
  return percentiles(delays)
}

/** Milliseconds from a submit to the answer of a take that waits for it, with all workers waiting. */
async function measureWakeUps(queue: Queue): Promise<Latencies> {
  const connections = await openMany(queue.url, queue.workers.length)
  const arrivals = new Arrivals()
  let over = false
  for (const [index, connection] of connections.entries()) {
    const worker = queue.workers[index]
    if (worker) void serve(connection, worker, arrivals, () => over)
  }
  await sleep(PARK_MS)
  const [client] = await openMany(queue.url, 1)
  if (client === undefined) throw new Error('no connection')
  const delays: number[] = []
  for (let sample = 0; sample < WAKE_SAMPLES; sample += 1) {
    const submittedAt = performance.now()
    const answer = await client.request('POST', `/v2/${queue.endpointId}/run`, headersOf(queue), JOB_BODY)
    delays.push((await arrivals.of(JSON.parse(answer.body).id).promise) - submittedAt)
  }
  over = true
  for (const open of [client, ...connections]) open.close()
  return percentiles(delays)
}

async function serve(connection: HttpConnection, worker: WorkerAccess, arrivals: Arrivals, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const [job] = await takeJobs(connection, worker, 1)
    if (job === undefined) return
    arrivals.of(job.id).resolve(performance.now())
    await postResult(connection, worker, job)
  }
}

/**
 * Milliseconds from a submit to its answer, at a fixed rate of submits whether or not earlier ones were answered: a closed loop would hide
 * the time that requests wait for each other.
 */
async function measureAtRate(queue: Queue): Promise<Latencies> {
  const idle = await openMany(queue.url, STEADY_PER_SECOND)
  const delays: number[] = []
  const startedAt = performance.now()
  const pending: Promise<void>[] = []
  for (let index = 0; index < STEADY_PER_SECOND * STEADY_SECONDS; index += 1) {
    const due = startedAt + (index * 1000) / STEADY_PER_SECOND
    while (performance.now() < due) await sleep(Math.max(0, due - performance.now()))
    pending.push(submit(idle, queue, due, delays))
  }
  await Promise.all(pending)
  for (const connection of idle) connection.close()
  return percentiles(delays)
}

async function submit(idle: HttpConnection[], queue: Queue, due: number, delays: number[]): Promise<void> {
  const connection = idle.pop() ?? (await HttpConnection.open(queue.url))
  const answer = await connection.request('POST', `/v2/${queue.endpointId}/run`, headersOf(queue), JOB_BODY)
  delays.push(performance.now() - due)
  idle.push(connection)
  if (answer.status !== 200) throw new Error(`run answered ${answer.status}: ${answer.body}`)
}

function openMany(url: string, count: number): Promise<HttpConnection[]> {
  return Promise.all(Array.from({ length: count }, () => HttpConnection.open(url)))
}
