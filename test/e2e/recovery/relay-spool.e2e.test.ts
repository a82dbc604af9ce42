import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { quickPingMs } from '../support/agent/quick-pings.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { type EndpointOptions, type JobView, TestEndpoint } from '../support/plane/endpoint.ts'
import { eventually, startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The plane is killed while a worker streams. The worker continues: its agent stores the posts, and the plane gets all of them once it is
// back.

/** Longer than a stock worker tries (three times, a few seconds apart), shorter than the host's lease. */
const AWAY_MS = 15_000
/** The chunks last 15 s: a slow machine sends some of them before the plane is killed. */
const CHUNKS = 60
const PAUSE_MS = 250
const HOLD_MS = 10_000
/** A worker has four intervals to ping once its host is back, also on a busy machine. */
const PING_INTERVAL_MS = quickPingMs()
/** Longer than the lease of a pinging worker: a busy machine takes this long to start an agent (LSE-34). */
const LATE_AGENT_MS = 6 * PING_INTERVAL_MS

interface Stream {
  program: EndpointOptions
  input: Record<string, unknown>
}

interface Running {
  endpoint: TestEndpoint
  job: string
  input: Record<string, unknown>
  /** Chunks that were read before the outage. */
  before: number[]
}

let plane: TestPlane
let agent: TestAgent
let image: string

beforeAll(async () => {
  image = await pythonWorkerImage()
  // Many missed pings within the outage: a result that waits in the agent must not count as lost.
  plane = await startPlane({ args: ['--no-agent'], env: { WORKER_PING_INTERVAL_MS: String(PING_INTERVAL_MS) } })
  agent = await startAgent({ plane, name: 'keeper', simulateGpus: 'NVIDIA L4:4' })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await agent?.stop()
  await plane?.stop()
})

/** The built-in worker, and a stock SDK in a container. */
const builtin = (): Stream => ({ program: { image: 'builtin/probe' }, input: { chunks: CHUNKS, chunkMs: PAUSE_MS } })
const stockSdk = (): Stream => ({
  program: { image, cmd: ['python3', '-u', '/handlers/generator.py'] },
  input: { chunks: CHUNKS, pause: PAUSE_MS / 1_000 },
})

test('[HOST-20, HOST-21] the plane is killed: every chunk and the result arrive once, of a built-in worker and of a stock SDK', () =>
  expectNothingLost([builtin(), stockSdk()]))

test('[HOST-20, HOST-22, LSE-34] both programs are killed: the next agent delivers the posts that the previous one stored', () =>
  expectNothingLost([builtin()], async () => {
    await eventually('the worker has ended its job', 30_000, async () => keptPosts('process', '/job-done/').length > 0)
    await agent.kill('SIGKILL')
    return async () => {
      await realTime(LATE_AGENT_MS, 'the agent comes back behind its plane')
      agent = await startAgent({ plane, name: 'keeper', simulateGpus: 'NVIDIA L4:4', stateDir: agent.stateDir })
    }
  }))

/**
 * Kills the plane in the middle of the streams; `meanwhile` runs during the outage, and the function that it returns runs once the plane
 * is back.
 */
async function expectNothingLost(
  streams: readonly Stream[],
  meanwhile: () => Promise<(() => Promise<void>) | undefined> = async () => undefined,
): Promise<void> {
  const endpoints = await Promise.all(streams.map(warm))
  const running = await Promise.all(endpoints.map(begin))
  const awayFrom = performance.now()
  await killPlane()
  const afterwards = await meanwhile()
  await realTime(Math.max(0, AWAY_MS - (performance.now() - awayFrom)), 'the plane is away for longer than a stock worker tries')
  expect(kept().length).toBeGreaterThan(running.length)
  plane = await plane.restart()
  await afterwards?.()
  const views = await Promise.all(running.map(expectWhole))
  await eventually('nothing is kept any more', 10_000, async () => kept().length === 0)
  // The workers continue undisturbed.
  await Promise.all(
    running.map(async ({ endpoint, input }, index) => {
      const { status, workerId } = await endpoint.runToEnd({ ...input, chunks: 1 })
      expect([status, workerId]).toEqual(['COMPLETED', views[index]?.workerId])
      await endpoint.remove()
    }),
  )
}

/** An endpoint whose worker is online, so that no stream ends before another begins. */
async function warm({ program, input }: Stream): Promise<Pick<Running, 'endpoint' | 'input'>> {
  const endpoint = await TestEndpoint.create(plane, 'streams', { ...program, workers: { max: 1, idleTimeout: 60 } })
  await endpoint.runToEnd({ ...input, chunks: 1 })
  return { endpoint, input }
}

/** Starts a streaming job, and reads its first chunks. */
async function begin({ endpoint, input }: Pick<Running, 'endpoint' | 'input'>): Promise<Running> {
  const job = await endpoint.run(input)
  return { endpoint, job, input, before: await readUntil(endpoint, job, 3) }
}

/** Expects the job to be completed at its first attempt, and each chunk to be read once. */
async function expectWhole({ endpoint, job, before }: Running): Promise<JobView> {
  const view = await endpoint.finished(job)
  expect(view).toMatchObject({ status: 'COMPLETED' })
  expect(view).not.toHaveProperty('retries')
  const numbers = [...before, ...(await readUntil(endpoint, job, Number.POSITIVE_INFINITY))]
  expect(numbers).toEqual(Array.from({ length: CHUNKS }, (_, number) => number))
  expect((await endpoint.health()).jobs).toEqual({ completed: 2, failed: 0, inProgress: 0, inQueue: 0, retried: 0 })
  return view
}

async function killPlane(): Promise<void> {
  const runtimes = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(plane.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([pid, name]) => (name === 'workerd' ? [Number(pid)] : []))
  expect(runtimes.length).toBeGreaterThan(0)
  const ended = plane.kill('SIGKILL')
  for (const pid of runtimes) process.kill(pid, 'SIGKILL')
  await ended
}

/** Numbers of the chunks that a client of the stream reads, until it has this many or the job has ended. */
async function readUntil({ id }: TestEndpoint, job: string, count: number): Promise<number[]> {
  const numbers: number[] = []
  while (numbers.length < count) {
    const reply = await fetch(`${plane.url}/v2/${id}/stream/${job}?wait=${HOLD_MS}`, {
      headers: { authorization: `Bearer ${plane.apiKey}` },
    })
    const body = (await reply.json()) as { status: string; stream: { output: { chunk: number } }[] }
    numbers.push(...body.stream.map(({ output }) => output.chunk))
    if (body.status === 'COMPLETED' || body.status === 'FAILED') break
  }
  return numbers
}

function kept(): string[] {
  return [...keptPosts('process'), ...keptPosts('docker')]
}

/** Files in which an agent's relay stores posts to a route. */
function keptPosts(runtime: string, route = ''): string[] {
  const dir = join(agent.stateDir, `results-${runtime}`)
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.post')) : []
  return names.filter((name) => readFileSync(join(dir, name), 'utf8').includes(route))
}
