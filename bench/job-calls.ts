import { createApiClient } from '../src/client/client.ts'
import { ENTRY_HEADER, type Entry } from './inside/entries.ts'
import type { Target } from './load/target.ts'
import type { BenchPlane, Queue } from './setup.ts'

/** The body of every measured job. */
export const JOB_BODY = '{"input":{"prompt":"Hello","steps":30}}'
export const JOB_INPUT = '{"prompt":"Hello","steps":30}'

export function headersOf({ apiKey }: Pick<Queue, 'apiKey'>): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
}

/** A submit through the whole plane: key, scopes, limits, validation, durable storage. */
export function submitTarget(queue: Queue): Target {
  return { url: `${queue.url}/v2/${queue.endpointId}/run`, method: 'POST', headers: headersOf(queue), body: JOB_BODY }
}

/** The same submit passed directly to the endpoint's object, without key check and limits, as for an exempt caller. */
export function directSubmitTarget(queue: Queue): Target {
  const headers = { 'content-type': 'application/json', [ENTRY_HEADER]: 'direct', 'x-podplane-exempt': '1' }
  return { ...submitTarget(queue), headers }
}

export async function statusTarget(queue: Queue): Promise<Target> {
  const job = await createApiClient(queue.url, queue.apiKey).request('POST', `/v2/${queue.endpointId}/run`, { input: {} })
  return { url: `${queue.url}/v2/${queue.endpointId}/status/${(job as { id: string }).id}`, method: 'GET', headers: headersOf(queue) }
}

/** Fills the queue up to at least `length` jobs. */
export async function fillQueue(queue: Queue, length: number): Promise<void> {
  const missing = length - (await queueLength(queue))
  if (missing > 0) await callInside(queue, queue.endpointId, 'fill', missing)
}

export async function queueLength(queue: Omit<Queue, 'workers'>): Promise<number> {
  const health = await createApiClient(queue.url, queue.apiKey).request('GET', `/v2/${queue.endpointId}/health`)
  return (health as { jobs: { inQueue: number } }).jobs.inQueue
}

export async function purge(queue: Queue): Promise<void> {
  await createApiClient(queue.url, queue.apiKey).request('POST', `/v2/${queue.endpointId}/purge-queue`, {})
}

/** Calls an endpoint's object through an entry point; see bench/inside. */
export async function callInside(
  plane: Pick<BenchPlane, 'url'>,
  endpointId: string,
  connection: Exclude<Entry, 'direct'>,
  count = 0,
): Promise<unknown> {
  const url = `${plane.url}/v2/${endpointId}/bench?count=${count}`
  const response = await fetch(url, { method: 'POST', headers: { [ENTRY_HEADER]: connection }, body: JOB_INPUT })
  if (!response.ok) throw new Error(`${connection} answered ${response.status}: ${await response.text()}`)
  return await response.json()
}
