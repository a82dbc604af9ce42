import { type CallLimits, holdToEnd } from '../../../../durable-objects/endpoint/call-limits.ts'
import { problemReply } from '../../../../durable-objects/endpoint/replies.ts'
import type { LimitBucket } from '../../../../src/contract/jobs/job-routes.ts'
import { DEFAULT_JOB_LIMITS, JOB_WINDOW_MS } from '../../../../src/domain/job/limits.ts'
import {
  type Account,
  api,
  createAccount,
  createEndpoint,
  createKey,
  describe,
  env,
  expect,
  it,
  runInDurableObject,
  send,
} from '../../../support/harness.ts'
import { runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { until } from '../../../support/time.ts'

interface Limited {
  account: Account
  endpointId: string
  /** Sets the endpoint's clock. */
  setClock: (ms: number) => Promise<void>
}

const START = Math.ceil(Date.now() / JOB_WINDOW_MS) * JOB_WINDOW_MS

/** An account with limits, and an endpoint whose clock stands at the start of a window. */
async function setUpLimited(): Promise<Limited> {
  const account = await createAccount({ exempt: false })
  const endpointId = await createEndpoint(account.key, { workers: { min: 0, max: 0 } })
  const setClock = (ms: number) =>
    runInDurableObject(endpointStub(env, endpointId), (object) => {
      object.core.now = () => ms
    })
  await setClock(START)
  return { account, endpointId, setClock }
}

const purge = ({ account, endpointId }: Limited, key = account.key) => api(key).post(`/v2/${endpointId}/purge-queue`)

describe('rate', () => {
  it('[LIM-1, API-6, API-7] the third purge within ten seconds is refused, and the next window is open again', async () => {
    const limited = await setUpLimited()
    expect((await purge(limited)).status).toBe(200)
    expect((await purge(limited)).status).toBe(200)
    await limited.setClock(START + JOB_WINDOW_MS - 1)
    const refused = await purge(limited)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body).toEqual({
      title: 'Too Many Requests',
      status: 429,
      detail: 'rate limit exceeded for /purge-queue: 2 requests per 10 seconds on this endpoint',
    })
    await limited.setClock(START + JOB_WINDOW_MS)
    expect((await purge(limited)).status).toBe(200)
  })

  it('[LIM-1] counts per user and per endpoint, not per key, and operations beside each other', async () => {
    const limited = await setUpLimited()
    const { account, endpointId } = limited
    await purge(limited)
    const other = await createKey(account.userId)
    await purge(limited, other.key)
    expect((await purge(limited, other.key)).status).toBe(429)
    expect((await api(account.key).get(`/v2/${endpointId}/health`)).status).toBe(200)
    expect((await api(account.key).post(`/v2/${endpointId}/run`, { input: {} })).status).toBe(200)
    const second = await createEndpoint(account.key, { workers: { min: 0, max: 0 } })
    expect((await api(account.key).post(`/v2/${second}/purge-queue`)).status).toBe(200)
  })

  it('[LIM-1] a call counts whatever its reply, a refused one does not', async () => {
    const limited = await setUpLimited()
    const { account, endpointId } = limited
    const spend = () => api(account.key).post(`/v2/${endpointId}/cancel/unknown`)
    for (let i = 0; i < DEFAULT_JOB_LIMITS.limits.cancel.rate; i++) expect((await spend()).status).toBe(404)
    expect((await spend()).status).toBe(429)
    expect((await spend()).status).toBe(429)
    await limited.setClock(START + JOB_WINDOW_MS)
    expect((await spend()).status).toBe(404)
  })

  it('[LIM-1, OAI-11] a call of /openai beyond its limit has the members of both APIs', async () => {
    const { account, endpointId } = await setUpLimited()
    const { rate } = DEFAULT_JOB_LIMITS.limits.openai
    await runInDurableObject(endpointStub(env, endpointId), async ({ core: { limits } }) => {
      for (let i = 0; i < rate; i++) await callWithin(limits, 'openai', account.userId, 0, async () => new Response(''))
    })
    const refused = await api(account.key).post(`/v2/${endpointId}/openai/v1/chat/completions`, { model: 'm' })
    const detail = `rate limit exceeded for /openai: ${rate} requests per 10 seconds on this endpoint`
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('10')
    expect(refused.body).toEqual({
      error: { message: detail, type: 'rate_limit_error', code: null },
      title: 'Too Many Requests',
      status: 429,
      detail,
    })
  })

  it('[LIM-1] a client cannot name itself another user or exempt', async () => {
    const limited = await setUpLimited()
    const { account, endpointId } = limited
    const forged = { 'x-podplane-user': 'somebody', 'x-podplane-exempt': '1' }
    const spend = () => api(account.key).post(`/v2/${endpointId}/purge-queue`, undefined, forged)
    await spend()
    await spend()
    expect((await spend()).status).toBe(429)
  })

  it('[LIM-12] an exempt account has no limits', async () => {
    const account = await createAccount({ exempt: true })
    const endpointId = await createEndpoint(account.key, { workers: { min: 0, max: 0 } })
    for (let i = 0; i < 5; i++) expect((await api(account.key).post(`/v2/${endpointId}/purge-queue`)).status).toBe(200)
  })
})

/** Runs a call within its limits, as the object does. */
async function callWithin(limits: CallLimits, bucket: LimitBucket, userId: string, workers: number, call: () => Promise<Response>) {
  const entry = limits.enter(bucket, userId, START, () => workers)
  if (!entry.refusal) return holdToEnd(entry.release, call)
  return problemReply(entry.refusal.key, entry.refusal.detail, entry.refusal.headers)
}

describe('concurrency', () => {
  const activeOf = (endpointId: string, userId: string) =>
    runInDurableObject(endpointStub(env, endpointId), (object) => object.core.limits.activeCalls('runsync', userId))

  it('[LIM-1] a slot is held while a call waits and free again when its client has left', async () => {
    const { account, endpointId } = await setUpLimited()
    await runInDurableObject(endpointStub(env, endpointId), (object) => {
      object.core.now = () => Date.now()
    })
    const controller = new AbortController()
    const held = send(`/v2/${endpointId}/runsync`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.key}` },
      body: '{"input":{}}',
      signal: controller.signal,
    })
    await until(async () => (await activeOf(endpointId, account.userId)) === 1)
    controller.abort()
    await expect(held).rejects.toThrow()
    await until(async () => (await activeOf(endpointId, account.userId)) === 0)
  })

  it('[LIM-1] one call above the limit is refused at once, and a call that ended makes room', async () => {
    const { account, endpointId } = await setUpLimited()
    const limit = DEFAULT_JOB_LIMITS.limits.requests
    const outcome = await runInDurableObject(endpointStub(env, endpointId), async (object) => {
      const { limits } = object.core
      const call = (answer: Promise<Response>) => callWithin(limits, 'requests', account.userId, 0, () => answer)
      let end = (_: Response) => {}
      const pending = Array.from({ length: limit.concurrent ?? 0 }, () => call(new Promise<Response>((resolve) => (end = resolve))))
      const refused = await call(Promise.resolve(new Response('')))
      end(new Response(''))
      await pending.at(-1)
      const admitted = await call(Promise.resolve(new Response('')))
      return [refused.status, refused.headers.get('retry-after'), admitted.status]
    })
    expect(outcome).toEqual([429, '1', 200])
  })

  it('[LIM-1] an event stream holds its slot to the end of its body, or until its reader is gone', async () => {
    const { account, endpointId } = await setUpLimited()
    const counts = await runInDurableObject(endpointStub(env, endpointId), async (object) => {
      const { limits } = object.core
      const seen: number[] = []
      const active = () => seen.push(limits.activeCalls('stream', account.userId))
      const stream = () =>
        new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1)) }), {
          headers: { 'content-type': 'text/event-stream' },
        })
      const endless = await callWithin(limits, 'stream', account.userId, 0, async () => stream())
      active()
      await endless.body?.cancel()
      active()
      const short = await callWithin(
        limits,
        'stream',
        account.userId,
        0,
        async () => new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      )
      active()
      await short.text()
      active()
      await callWithin(limits, 'stream', account.userId, 0, () => Promise.reject(new Error('broken'))).catch(() => undefined)
      active()
      return seen
    })
    expect(counts).toEqual([1, 0, 1, 0, 0])
  })

  it('[LIM-1] a client that stops reading an event stream and is then cut off frees its slot', async () => {
    const { account, endpointId } = await setUpLimited()
    const stub = endpointStub(env, endpointId)
    await runInDurableObject(stub, (object) => {
      object.core.now = () => Date.now()
      object.core.pace.keepaliveMs = 20
    })
    const { body } = await api(account.key).post(`/v2/${endpointId}/run`, { input: {} })
    const controller = new AbortController()
    const reply = await send(`/v2/${endpointId}/stream/${body.id}`, {
      headers: { Authorization: `Bearer ${account.key}`, Accept: 'text/event-stream' },
      signal: controller.signal,
    })
    expect(reply.status).toBe(200)
    const active = () => runInDurableObject(stub, (object) => object.core.limits.activeCalls('stream', account.userId))
    const waiting = () => runInDurableObject(stub, (object) => object.core.parking.waitingJobs)
    // The first comment fills the body, so that the stream does not wait for the job.
    await until(async () => (await waiting()) === 1)
    await until(async () => (await waiting()) === 0)
    expect(await active()).toBe(1)
    controller.abort()
    await until(async () => (await active()) === 0)
  })

  it('[LIM-1] a slot is free once its client has left, also where the unread body does not report it', async () => {
    const client = new AbortController()
    const full = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1)) })
    let released = 0
    const release = () => {
      released += 1
    }
    await holdToEnd(release, async () => new Response(full, { headers: { 'content-type': 'text/event-stream' } }), client.signal)
    expect(released).toBe(0)
    client.abort()
    expect(released).toBe(1)
  })

  it('[LIM-1] running workers lift the limit of every operation', async () => {
    const { account, endpointId } = await setUpLimited()
    const outcomes = await runInDurableObject(endpointStub(env, endpointId), async (object) => {
      const { limits } = object.core
      const call = (workers: number) =>
        callWithin(limits, 'purge-queue', account.userId, workers, async () => new Response('')).then((reply) => reply.status)
      const base = [await call(0), await call(0), await call(0)]
      const lifted: number[] = []
      for (let i = 2; i < 100; i++) lifted.push(await call(1))
      return { base, lifted: new Set(lifted), above: await call(1) }
    })
    expect(outcomes).toEqual({ base: [200, 200, 429], lifted: new Set([200]), above: 429 })
  })
})

it('[LIM-1] a small call frees its slot whether it succeeds or fails', async () => {
  const { account, endpointId } = await setUpLimited()
  const stub = endpointStub(env, endpointId)
  for (const body of ['{"input":{}}', '{"input":[]}', 'no json']) await api(account.key).post(`/v2/${endpointId}/run`, body)
  await api(account.key).get(`/v2/${endpointId}/status/unknown`)
  const broken = await runInDurableObject(stub, async (object) => {
    const { transact } = object.core
    object.core.transact = () => Promise.reject(new Error('disk full'))
    const submit = {
      endpointId,
      operation: 'run',
      userId: account.userId,
      body: '{"input":{}}',
      ttl: null,
      wait: null,
      idempotencyKey: null,
    } as const
    const outcome = await object.run(submit, { userId: account.userId, exempt: false }).catch((error: Error) => error.message)
    object.core.transact = transact
    return [outcome, object.core.limits.activeCalls('run', account.userId), object.core.limits.activeCalls('status', account.userId)]
  })
  expect(broken).toEqual(['disk full', 0, 0])
})

it('[STA-1] a record too large for an RPC is read nevertheless, and counted once', async () => {
  const queue = await setUpQueue()
  const { jobId, worker } = await runAndTake(queue)
  const data = 'ä'.repeat(1_500_000)
  await worker.done(jobId, { output: { data } })
  expect((await queue.get(`/status/${jobId}`)).body.output.data).toBe(data)
})

it('[RATE-31] /health has a limit of its own', async () => {
  const { account, endpointId } = await setUpLimited()
  const health = () => api(account.key).get(`/v2/${endpointId}/health`)
  expect((await health()).status).toBe(200)
  const { rate } = DEFAULT_JOB_LIMITS.limits.health
  const spend = (calls: number) =>
    runInDurableObject(endpointStub(env, endpointId), ({ core }) => {
      for (let call = 0; call < calls; call += 1) {
        const entry = core.limits.enter('health', account.userId, core.now(), () => 0)
        if (!entry.refusal) entry.release()
      }
    })
  await spend(rate - 2)
  expect((await health()).status).toBe(200)
  const refused = await health()
  expect([refused.status, refused.body.detail]).toEqual([
    429,
    'rate limit exceeded for /health: 2000 requests per 10 seconds on this endpoint',
  ])
  expect((await api(account.key).get(`/v2/${endpointId}/status/unknown`)).status).toBe(404)
})
