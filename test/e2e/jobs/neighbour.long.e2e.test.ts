import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quickPings } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { docker, findContainer } from '../support/machines/docker.ts'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// Two accounts on one machine. A container of one uses as much as it can; the other's jobs continue.

const JOB_SECONDS = 0.3
const JOBS = 12
const FLOOD_SECONDS = 25
const READY_MS = 60_000

let plane: TestPlane
let agent: TestAgent
let image: string
let otherTenantKey: string

beforeAll(async () => {
  image = await pythonWorkerImage()
  plane = await startPlane({ args: ['--no-agent'], env: quickPings() })
  agent = await startAgent({ plane, name: 'shared', simulateGpus: 'NVIDIA L4:4' })
  const operator = plane.operatorKey
  const user = await callPlane<{ id: string }>(plane, operator, 'POST', '/admin/v1/users', { email: 'stranger@example.com' })
  otherTenantKey = (await callPlane<{ key: string }>(plane, operator, 'POST', `/admin/v1/users/${user.id}/keys`, { name: 'stranger' })).key
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

test('[H1] [M2] [HOST-76] while a container floods relay, inotify, pids, disk, memory, log and DNS, jobs of another account keep their time', async () => {
  const cmd = ['python3', '-u', '/handlers/plain.py']
  const victim = await TestEndpoint.create(plane, 'victim', { image, cmd, workers: { min: 1, max: 1, idleTimeout: 60 } })
  // The first one waits for the start of the worker.
  await victim.finished(await victim.run({ do: 'echo' }), READY_MS)
  const quietMs = await medianMs(victim)
  const filesBefore = openFiles()

  const otherTenant = { url: plane.url, apiKey: otherTenantKey }
  const flood = await TestEndpoint.create(otherTenant, 'flood', {
    image,
    cmd: ['python3', '-u', '/handlers/flood.py'],
    env: { FLOOD_SECONDS: String(FLOOD_SECONDS) },
    workers: { min: 1, max: 1 },
  })
  const container = await eventually('the flood has begun', READY_MS, async () => {
    const { workers } = await callPlane<{ workers: { id: string }[] }>(
      otherTenant,
      otherTenantKey,
      'GET',
      `/v2/serverless/${flood.id}/workers`,
    )
    const found = workers[0] && (await findContainer(workers[0].id))
    return found !== undefined && (await counts(found)) !== undefined && found
  })
  const floodedMs = await medianMs(victim)
  const filesMost = openFiles()
  const got = await counts(container)
  await flood.remove()

  // The flood has tried everything, and the victim's jobs ran all the time.
  expect(Object.keys(got ?? {})).toEqual(expect.arrayContaining(['relay', 'inotify', 'processes', 'disk', 'memory', 'log', 'dns']))
  expect(floodedMs / quietMs).toBeLessThan(2)
  expect(filesMost - filesBefore).toBeLessThan(500)
  expect((await victim.health()).jobs).toMatchObject({ completed: 2 * JOBS + 1, failed: 0, retried: 0 })
}, 180_000)

/** The median time of some jobs for their caller, from the submit to the answer. */
async function medianMs(endpoint: TestEndpoint): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < JOBS; n += 1) {
    const startedAt = performance.now()
    expect(await endpoint.runToEnd({ do: 'sleep', seconds: JOB_SECONDS })).toMatchObject({ status: 'COMPLETED' })
    times.push(performance.now() - startedAt)
  }
  return times.toSorted((a, b) => a - b)[JOBS / 2] ?? 0
}

/** Open file descriptors of the agent. */
function openFiles(): number {
  return readdirSync(`/proc/${agent.pid}/fd`).length
}

/** The resources that the flood reports to have obtained; undefined before it has obtained any. */
async function counts(container: string): Promise<Record<string, number> | undefined> {
  // Copied, because a container at its process limit starts no further process. The copy is a tar archive.
  const archive = await docker('cp', `${container}:/tmp/flood`, '-').catch(() => '')
  const [text] = /\{.*\}/.exec(archive) ?? []
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, number>)
}
