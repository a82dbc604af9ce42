import { afterAll, beforeAll, describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { ErrorView, JobView, PlayedEndpoint } from './support/endpoint.ts'
import { type Delivery, type Hook, WebhookReceiver } from './support/receiver.ts'
import { expect, scenario } from './support/scenario.ts'

/** HOOK-4. */
const ATTEMPTS = 3
const GAP_MS = 10_000
/** The receiver's clock starts with the arrival of an attempt, the platform's with its end. */
const GAP_GRAIN_MS = 500
/** Longer than a gap: no further attempt arrives after this. */
const QUIET_MS = 15_000
const INPUT = { prompt: 'Grüße', list: [1, { two: 2 }], big: 12345678901234 }

let receiver: WebhookReceiver

beforeAll(async () => {
  receiver = await WebhookReceiver.open()
})
afterAll(() => receiver?.close())

describe('one notification', () => {
  for (const answer of [200, 202, 204]) {
    scenario(
      `[INV-15] HOOK-2, HOOK-3, HOOK-5: the record with input and webhook is posted once; ${answer} ends it`,
      { workers: 1 },
      async (endpoint) => {
        const hook = receiver.hook(() => answer)
        const worker = await endpoint.nextWorker()
        const job = await endpoint.run(INPUT, { webhook: hook.url })
        await worker.takeJob()
        await worker.progress(job, '50 %')
        await worker.chunk(job, { output: 1 })
        await worker.done(job, { output: { echo: 'ß' } })
        const [delivery] = await hook.received(1)
        expectDelivery(delivery, { ...(await endpoint.status(job)), input: INPUT, webhook: hook.url })
        await realTime(QUIET_MS, 'another attempt would come after 10 s')
        expect(hook.deliveries).toHaveLength(1)
      },
    )
  }

  scenario('[INV-15] HOOK-3: failed, cancelled and purged jobs are notified, and a runsync too', { workers: 1 }, async (endpoint) => {
    const hooks = [receiver.hook(), receiver.hook(), receiver.hook(), receiver.hook(), receiver.hook()] as const
    const [failed, running, queued, purged, sync] = hooks
    const worker = await endpoint.nextWorker()
    const first = await endpoint.run(INPUT, { webhook: failed.url })
    await worker.takeJob()
    await worker.done(first, { error: { why: 'dict' } })
    const second = await endpoint.run(INPUT, { webhook: running.url })
    await worker.takeJob()
    const third = await endpoint.run(INPUT, { webhook: queued.url })
    for (const job of [second, third]) await endpoint.call('POST', `cancel/${job}`)
    const fourth = await endpoint.run(INPUT, { webhook: purged.url })
    await endpoint.call('POST', 'purge-queue')
    for (const [hook, job] of [
      [failed, first],
      [running, second],
      [queued, third],
      [purged, fourth],
    ] as const) {
      expectDelivery((await hook.received(1))[0], { ...(await endpoint.status(job)), input: INPUT, webhook: hook.url })
    }
    worker.holding.clear()
    const held = endpoint.call('POST', 'runsync', { body: { input: INPUT, webhook: sync.url } })
    await worker.done((await worker.takeJob()).id, { output: 1 })
    expectDelivery((await sync.received(1))[0], { ...(await held).body, input: INPUT, webhook: sync.url })
    for (const hook of hooks) expect(hook.deliveries).toHaveLength(1)
  })

  scenario('[INV-15] HOOK-3, JOB-9: a job that its ttl deletes is notified as TIMED_OUT', {}, async (endpoint) => {
    const hook = receiver.hook()
    const job = await endpoint.run(INPUT, { webhook: hook.url, policy: { ttl: 10_000 } })
    const [delivery] = await hook.received(1)
    expect(JSON.parse(delivery?.text ?? '')).toMatchObject({ id: job, status: 'TIMED_OUT', input: INPUT, webhook: hook.url })
    expect((await endpoint.call('GET', `status/${job}`)).status).toBe(404)
  })

  scenario('[INV-15] HOOK-3: a retry that ends notifies again', { workers: 2 }, async (endpoint) => {
    const hook = receiver.hook()
    const [first, second] = [await endpoint.nextWorker(), await endpoint.nextWorker()]
    const job = await endpoint.run(INPUT, { webhook: hook.url })
    await first.takeJob()
    await first.done(job, { error: 'once' })
    await hook.received(1)
    await endpoint.call('POST', `retry/${job}`)
    await second.takeJob()
    await second.done(job, { output: 'twice' })
    expect((await hook.received(2)).map((delivery) => (JSON.parse(delivery.text) as JobView).status)).toEqual(['FAILED', 'COMPLETED'])
  })
})

describe('attempts', () => {
  for (const answer of [500, 404, 'reset'] as const) {
    scenario(
      `[INV-15] HOOK-4, HOOK-6: a receiver that answers ${answer} gets 3 identical attempts, 10 s apart, and the job is unaffected`,
      { workers: 1 },
      async (endpoint) => {
        const hook = receiver.hook(() => answer)
        const worker = await endpoint.nextWorker()
        const job = await endpoint.run(INPUT, { webhook: hook.url })
        await worker.takeJob()
        await worker.done(job, { output: 1 })
        const view = await endpoint.status(job)
        const deliveries = await hook.received(ATTEMPTS)
        expectGaps(deliveries)
        expect(new Set(deliveries.map(({ text }) => text)).size).toBe(1)
        expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
        await realTime(QUIET_MS, 'another attempt would come after 10 s')
        expect(hook.deliveries).toHaveLength(ATTEMPTS)
        expect(await endpoint.status(job)).toEqual(view)
      },
    )
  }

  scenario('[INV-15] HOOK-4, HOOK-5: the attempt that succeeds is the last', { workers: 1 }, async (endpoint) => {
    const hook = receiver.hook((attempt) => (attempt === 1 ? 503 : 201))
    await completeOne(endpoint, hook)
    expectGaps(await hook.received(2))
    await realTime(QUIET_MS, 'another attempt would come after 10 s')
    expect(hook.deliveries).toHaveLength(2)
  })

  scenario('[INV-15] HOOK-8: every attempt carries an id, a time and a signature', { workers: 1 }, async (endpoint) => {
    const hook = receiver.hook()
    await completeOne(endpoint, hook)
    const [delivery] = await hook.received(1)
    expect(delivery?.headers['webhook-id']).toBeTruthy()
    expect(delivery?.headers['webhook-timestamp']).toMatch(/^\d+$/)
    expect(delivery?.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$/)
  })
})

describe('refused addresses', () => {
  scenario('[INV-15] HOOK-7: a webhook with a forbidden address is 400 and names webhook', {}, async (endpoint) => {
    const addresses = [
      'ftp://example.com/x',
      'https://user:password@example.com/',
      'http://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/',
    ]
    for (const webhook of [...addresses, 'http://example.com/', 'not an address', '', 7, {}]) {
      for (const operation of ['run', 'runsync']) {
        const reply = await endpoint.call<ErrorView>('POST', operation, { body: { input: {}, webhook } })
        expect(reply.status, `${operation} with ${webhook}`).toBe(400)
        expect(reply.body.detail, `${operation} with ${webhook}`).toContain('webhook')
      }
    }
    expect((await endpoint.health()).jobs.inQueue).toBe(0)
  })
})

async function completeOne(endpoint: PlayedEndpoint, hook: Hook): Promise<void> {
  const worker = await endpoint.nextWorker()
  const job = await endpoint.run(INPUT, { webhook: hook.url })
  await worker.takeJob()
  await worker.done(job, { output: 1 })
}

function expectDelivery(delivery: Delivery | undefined, body: unknown): void {
  expect(delivery?.method).toBe('POST')
  expect(delivery?.headers['content-type']).toMatch(/^application\/json\b/)
  expect(JSON.parse(delivery?.text ?? '')).toEqual(body)
}

function expectGaps(deliveries: readonly Delivery[]): void {
  for (const [index, { atMs }] of deliveries.entries()) {
    const before = deliveries[index - 1]
    if (before !== undefined) expect(atMs - before.atMs).toBeGreaterThan(GAP_MS - GAP_GRAIN_MS)
  }
}
