import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerAccess } from './fake-host.ts'
import { HttpConnection } from './http-connection.ts'
import { postResult, takeJobs } from './worker-loop.ts'

export interface Latencies {
  p50: number
  p99: number
}

interface Api {
  url: string
  endpointId: string
  apiKey: string
}

/** Milliseconds from posting a result to the answer of the `/runsync` that waits for it, with `parked` of them waiting at once. */
export async function measureParkedReplies(api: Api, [worker]: readonly WorkerAccess[], parked: number): Promise<Latencies> {
  const callers = await openMany(api.url, parked)
  const answeredAt = new Map<string, number>()
  const answers = callers.map(async (caller) => {
    const answer = await caller.request('POST', `/v2/${api.endpointId}/runsync`, headersOf(api), '{"input":{}}')
    answeredAt.set(JSON.parse(answer.body).id, performance.now())
  })
  const [connection] = await openMany(api.url, 1)
  if (connection === undefined || worker === undefined) throw new Error('nobody can take the jobs')
  const delays: number[] = []
  for (let taken = 0; taken < parked; taken += 1) {
    const [job] = await takeJobs(connection, worker, 1)
    if (job === undefined) break
    const postedAt = performance.now()
    await postResult(connection, worker, job)
    while (!answeredAt.has(job.id)) await sleep(0)
    delays.push((answeredAt.get(job.id) ?? 0) - postedAt)
  }
  await Promise.all(answers)
  for (const open of [...callers, connection]) open.close()
  return percentiles(delays)
}

/**
 * Milliseconds from a submit to its answer, submits being sent at a fixed rate whether or not earlier ones were answered:
 * a closed loop would hide the time that requests wait for each other.
 */
export async function measureAtRate(api: Api, perSecond: number, seconds: number): Promise<Latencies> {
  const idle = await openMany(api.url, perSecond)
  const delays: number[] = []
  const startedAt = performance.now()
  const pending: Promise<void>[] = []
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = startedAt + (index * 1000) / perSecond
    while (performance.now() < due) await sleep(Math.max(0, due - performance.now()))
    pending.push(submit(idle, api, due, delays))
  }
  await Promise.all(pending)
  for (const connection of idle) connection.close()
  return percentiles(delays)
}

async function submit(idle: HttpConnection[], api: Api, due: number, delays: number[]): Promise<void> {
  const connection = idle.pop() ?? (await HttpConnection.open(api.url))
  const answer = await connection.request('POST', `/v2/${api.endpointId}/run`, headersOf(api), '{"input":{}}')
  delays.push(performance.now() - due)
  idle.push(connection)
  if (answer.status !== 200) throw new Error(`run answered ${answer.status}: ${answer.body}`)
}

function headersOf({ apiKey }: Api): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
}

function openMany(url: string, count: number): Promise<HttpConnection[]> {
  return Promise.all(Array.from({ length: count }, () => HttpConnection.open(url)))
}

function percentiles(values: readonly number[]): Latencies {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
