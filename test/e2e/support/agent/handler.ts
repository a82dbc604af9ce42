import { docker, findContainer } from '../machines/docker.ts'
import type { TestEndpoint } from '../plane/endpoint.ts'
import { eventually } from '../plane/plane.ts'

const RUNS_WITHIN_MS = 60_000
const BEGINS_WITHIN_MS = 20_000

/** Waits until the handler `plain.py` prints that it works on a job; returns the worker. */
export async function handlerBegun(endpoint: TestEndpoint, job: string): Promise<string> {
  const worker = await eventually('the job runs', RUNS_WITHIN_MS, async () => {
    const view = await endpoint.status(job)
    return view.status === 'IN_PROGRESS' && view.workerId
  })
  await eventually('its handler has begun', BEGINS_WITHIN_MS, async () => {
    const container = await findContainer(worker)
    return container !== undefined && (await docker('logs', container)).includes(`begun ${job}`)
  })
  return worker
}
