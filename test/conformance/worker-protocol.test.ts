import { describe } from 'vitest'
import { call, type Reply } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'
import type { PlayedWorker, TakenJob } from './support/worker.ts'

/** WRK-8: the minimum hold of a take. */
const HOLD_MS = 20_000
/** SDKs abort a poll after this time. */
const GIVEN_UP_MS = 90_000
const POLLS = ['job-take', 'job-take-batch', 'job-stop']
const TEMPLATES = {
  RUNPOD_WEBHOOK_GET_JOB: '/job-take/$ID?',
  RUNPOD_WEBHOOK_POST_OUTPUT: '/job-done/$RUNPOD_POD_ID/$ID?',
  RUNPOD_WEBHOOK_POST_STREAM: '/job-stream/$RUNPOD_POD_ID/$ID?',
  RUNPOD_WEBHOOK_PING: '/ping/$RUNPOD_POD_ID?',
}

describe('routes', () => {
  scenario(
    '[INV-16] WRK-1, LSE-6: a worker receives the addresses of its endpoint, with the GPU and one boot nonce',
    { workers: 1 },
    async (endpoint) => {
      const { workload } = await endpoint.nextWorker()
      const boots = new Set<string | null>()
      for (const [variable, path] of Object.entries(TEMPLATES)) {
        const template = workload.platformEnv[variable] ?? ''
        expect(template, variable).toContain(`/v2/${endpoint.id}${path}`)
        const query = new URLSearchParams(template.slice(template.indexOf('?') + 1))
        expect(query.get('gpu'), variable).toBeTruthy()
        boots.add(query.get('boot'))
      }
      expect(boots.size).toBe(1)
      // 64 bits or more.
      expect([...boots][0]).toMatch(/^[A-Za-z0-9_-]{11,}$/)
      expect(workload.platformEnv.RUNPOD_WEBHOOK_JOB_STREAM).toBe(workload.platformEnv.RUNPOD_WEBHOOK_POST_STREAM)
      expect(workload.platformEnv).toMatchObject({ RUNPOD_ENDPOINT_ID: endpoint.id, RUNPOD_POD_ID: workload.id })
      expect(workload.platformEnv.RUNPOD_AI_API_KEY).toBeTruthy()
      expect(Number(workload.platformEnv.RUNPOD_PING_INTERVAL)).toBeGreaterThanOrEqual(1_000)
    },
  )

  scenario('[INV-16] WRK-4: all six routes answer a worker', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const single = await endpoint.run()
    expect((await worker.takeReply<TakenJob>()).body).toMatchObject({ id: single, input: {} })
    expect((await worker.ping([single])).text).toBe('{}')
    expect((await worker.chunk(single, { output: 1 })).status).toBe(200)
    expect((await worker.done(single, { output: [] }, true)).status).toBe(200)
    const batched = await endpoint.run()
    expect((await worker.takeBatch(4)).body).toEqual([expect.objectContaining({ id: batched, input: {} })])
    const stop = worker.stopPoll()
    await endpoint.call('POST', `cancel/${batched}`)
    expect((await stop).body).toEqual({ jobsToStop: [batched] })
  })

  scenario('[INV-16] WRK-3: parameters appended to the path without a question mark are parsed', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    const url = `${worker.url('RUNPOD_WEBHOOK_GET_JOB').replace('?', '&')}&job_in_progress=0`
    expect((await call<TakenJob>(url, { headers: { authorization: worker.key } })).body.id).toBe(job)
    const ping = `${worker.url('RUNPOD_WEBHOOK_PING').replace('?', '&')}&job_id=${job}`
    expect((await call(ping, { headers: { authorization: worker.key } })).status).toBe(200)
  })
})

describe('polls', () => {
  for (const poll of POLLS) {
    scenario(`[INV-17] WRK-8, WRK-25: an empty ${poll} is held for 20 s or more and then 204`, { workers: 1 }, async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const reply = await call(pollUrl(worker, poll), { headers: { authorization: worker.key } })
      expect([reply.status, reply.text]).toEqual([204, ''])
      expect(reply.elapsedMs).toBeGreaterThan(HOLD_MS)
      expect(reply.elapsedMs).toBeLessThan(GIVEN_UP_MS)
    })

    scenario(`[INV-17] WRK-7: any fault of a ${poll} gives 429 or a hold, not a fast error`, { workers: 1 }, async (endpoint, tenant) => {
      const worker = await endpoint.nextWorker()
      worker.outlivesStop = true
      const url = pollUrl(worker, poll)
      const replies = await Promise.all([
        call(url, { headers: { authorization: 'wrong' } }),
        call(url),
        call(url, { headers: { authorization: `Bearer ${endpoint.apiKey}` } }),
        call(url.replace(endpoint.id, 'nosuchendpoint'), { headers: { authorization: worker.key } }),
        call(url.replace(worker.id, 'nosuchworker'), { headers: { authorization: worker.key } }),
        call(url.replace(/boot=[^&]+/, 'boot=another'), { headers: { authorization: worker.key } }),
      ])
      // An SDK pauses for a second after each stop poll, so there an early 204 does no harm.
      for (const reply of replies) poll === 'job-stop' ? expectBackOffOrNothing(reply) : expectBackOff(reply)
      await tenant.removeEndpoint(endpoint.id)
      expectBackOffOrNothing(await call(url, { headers: { authorization: worker.key } }))
    })
  }
})

describe('records', () => {
  scenario('[INV-18] WRK-9: a take returns one object with a string id and the input', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    await endpoint.run({ n: 1 })
    await endpoint.run()
    for (const input of [{ n: 1 }, {}]) {
      const { body, headers } = await worker.takeReply<TakenJob>()
      expect(headers.get('content-type')).toMatch(/^application\/json\b/)
      expectRecord(body, input)
      await worker.done(body.id, {})
    }
  })

  scenario('[INV-18] WRK-11: a batch is an array of at most batch_size records', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const jobs: string[] = []
    for (let n = 0; n < 7; n += 1) jobs.push(await endpoint.run({ n }))
    const taken: TakenJob[] = []
    while (taken.length < jobs.length) {
      const size = 3
      const { status, body } = await worker.takeBatch(size)
      expect(status).toBe(200)
      expect(body.length).toBeGreaterThan(0)
      expect(body.length).toBeLessThanOrEqual(size)
      for (const record of body) expectRecord(record, { n: taken.push(record) - 1 })
    }
    expect(taken.map(({ id }) => id)).toEqual(jobs)
  })
})

describe('draining', () => {
  scenario('[INV-31] WRK-28, WRK-29: a stopping worker gets 204 on its open polls and no further job', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    worker.outlivesStop = true
    const job = await endpoint.run()
    await worker.takeBatch(2)
    const polls = [worker.takeBatch(1), worker.stopPoll()]
    await worker.done(job, { output: 1, stopPod: true })
    for (const reply of await Promise.all(polls)) {
      expect(reply.status).toBe(204)
      expect(reply.elapsedMs, 'released, not run out').toBeLessThan(HOLD_MS)
    }
    await worker.stopOrdered
    const next = await endpoint.run()
    expectBackOffOrNothing(await worker.takeReply())
    const successor = await endpoint.nextWorker()
    expect((await successor.takeJob()).id).toBe(next)
  })

  scenario(
    '[INV-31] SCALE-6, WRK-29: a worker of an old release finishes its job, gets no other, and ends',
    { workers: 1, maxWorkers: 2 },
    async (endpoint, tenant) => {
      const old = await endpoint.nextWorker()
      old.outlivesStop = true
      const first = await endpoint.run()
      await old.takeBatch(2)
      const open = old.takeBatch(1)
      await tenant.changeEndpoint(endpoint.id, { env: { RELEASE: 'two' } })
      const second = await endpoint.run()
      const fresh = await endpoint.nextWorker()
      expect((await fresh.takeJob()).id).toBe(second)
      expect((await open).status).toBe(204)
      expect((await endpoint.status(first)).status).toBe('IN_PROGRESS')
      const last = old.takeReply()
      await old.done(first, { output: 'finished' })
      expectBackOffOrNothing(await last)
      await old.stopOrdered
      expect(await endpoint.status(first)).toMatchObject({ status: 'COMPLETED', output: 'finished', workerId: old.id })
    },
  )
})

function pollUrl(worker: PlayedWorker, poll: string): string {
  const url = worker.url('RUNPOD_WEBHOOK_GET_JOB').replace('/job-take/', `/${poll}/`)
  if (poll === 'job-stop') return url
  return `${url}${poll === 'job-take-batch' ? '&batch_size=4' : ''}&job_in_progress=0`
}

function expectRecord(record: TakenJob, input: unknown): void {
  expect(record.id).toEqual(expect.any(String))
  expect(record.id).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(record.input).toEqual(input)
}

function expectBackOff(reply: Reply<unknown>): void {
  const held = reply.status === 204 && reply.elapsedMs > HOLD_MS
  expect(held || reply.status === 429, `${reply.status} after ${reply.elapsedMs} ms: ${reply.text}`).toBe(true)
}

function expectBackOffOrNothing(reply: Reply<unknown>): void {
  expect([204, 429], reply.text).toContain(reply.status)
}
