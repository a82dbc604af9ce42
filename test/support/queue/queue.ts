import type { EndpointCore } from '../../../durable-objects/endpoint/core.ts'
import type { EndpointObject } from '../../../durable-objects/endpoint.ts'
import {
  type Account,
  api,
  createAccount,
  createEndpoint,
  env,
  expect,
  type Reply,
  runDurableObjectAlarm,
  runInDurableObject,
  vi,
} from '../harness.ts'
import { FakeHost, type FakeWorker } from '../hosts/fake-host.ts'
import { endpointStub } from '../runner/stubs.ts'
import { until } from '../time.ts'

/** An account with one endpoint and a host that can run its workers. */
export interface QueueSetup {
  account: Account
  endpointId: string
  host: FakeHost
  post: (path: string, body?: unknown) => Promise<Reply>
  get: (path: string) => Promise<Reply>
}

// One host serves a whole test file: placement would spread the workers of a test over the hosts of earlier ones.
let shared: Promise<FakeHost> | null = null

/** Creates a fresh account and endpoint, on a host with capacity for every test of a file. */
export async function setUpQueue(changes: Record<string, unknown> = {}): Promise<QueueSetup> {
  shared ??= FakeHost.join()
  const host = await shared
  const account = await createAccount()
  const endpointId = await createEndpoint(account.key, { workers: { min: 0, max: 1, idleTimeout: 60 }, ...changes })
  const call = api(account.key)
  const base = `/v2/${endpointId}`
  return { account, endpointId, host, post: (path, body) => call.post(base + path, body), get: (path) => call.get(base + path) }
}

/** Submits with /run and returns the job's id. */
export async function run(queue: QueueSetup, input: unknown = {}, policy?: Record<string, unknown>): Promise<string> {
  const reply = await queue.post('/run', { input, ...(policy && { policy }) })
  expect(reply.status).toBe(200)
  expect(reply.body.status).toBe('IN_QUEUE')
  return reply.body.id
}

/** Submits one job and plays the worker that the platform starts for it, until it holds the job. */
export async function runAndTake(
  queue: QueueSetup,
  input: unknown = {},
  policy?: Record<string, unknown>,
): Promise<{ jobId: string; worker: FakeWorker }> {
  const jobId = await run(queue, input, policy)
  const worker = await queue.host.startWorker(queue.endpointId)
  const job = await worker.take()
  expect(job?.id).toBe(jobId)
  return { jobId, worker }
}

/** Moves the endpoint's clock and runs its alarm. */
export async function advance(endpointId: string, ms: number): Promise<void> {
  const stub = endpointStub(env, endpointId)
  await runInDurableObject(stub, (object) => {
    const before = object.core.now
    object.core.now = () => before() + ms
  })
  await runDurableObjectAlarm(stub)
}

/** Opens a take and waits until the object has parked it. */
export async function parkTake(queue: QueueSetup, worker: FakeWorker): Promise<Promise<{ id: string } | null>[]> {
  const take = worker.take()
  const stub = endpointStub(env, queue.endpointId)
  const isParked = () => runInDurableObject(stub, (object) => object.core.parking.openTakes().some((open) => open.workerId === worker.id))
  await until(isParked)
  // In an array, because an async function would wait for the take itself.
  return [take]
}

/** Opens a stop poll and waits until the object holds it. */
export async function parkStopPoll(queue: QueueSetup, worker: FakeWorker): Promise<Promise<string[]>[]> {
  const held = await inside(queue, ({ core }) => vi.spyOn(core.parking, 'waitForStop'))
  const poll = worker.stopPoll()
  await until(() => held.mock.calls.some(([workerId]) => workerId === worker.id))
  held.mockRestore()
  return [poll]
}

/** Waits until the host has all decisions of the object so far: a message that has not arrived by then was not sent. */
export async function settled(queue: QueueSetup): Promise<void> {
  await until(() => inside(queue, ({ core }) => core.placing.inFlight.size === 0))
  // Messages of a link are in order, so the answer to a heartbeat is after them.
  await queue.host.beat()
}

/** Runs a function inside the endpoint's object. */
export function inside<T>(queue: Pick<QueueSetup, 'endpointId'>, check: (object: EndpointObject) => T | Promise<T>): Promise<T> {
  return runInDurableObject(endpointStub(env, queue.endpointId), check)
}

/** Runs something on an endpoint's tables and rolls it back, so that the object itself sees nothing of it. */
export function undone(core: EndpointCore, run: () => void): void {
  const undo = new Error('undo')
  try {
    core.ctx.storage.transactionSync(() => {
      core.state.begin(core.now())
      core.state.meta.setAlarmAtMs(null)
      run()
      throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  } finally {
    core.state.reload()
    core.audit.reload()
  }
}

/** Responses that stay open for as long as the file's tests run. */
const held: Response[] = []

/** Stops the endpoint's clock, so that only `advance` moves it: for tests of exact moments. */
export async function freezeClock(endpointId: string): Promise<void> {
  const answer = await runInDurableObject(endpointStub(env, endpointId), (object) => {
    const nowMs = object.core.now()
    object.core.now = () => nowMs
    return new Response(new TransformStream().readable)
  })
  // An object without a request for ten seconds, which is a short time on a busy machine, is evicted and returns with the machine's clock.
  held.push(answer)
}
