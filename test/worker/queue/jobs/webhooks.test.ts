import { Webhook } from 'standardwebhooks'
import { startAttempt } from '../../../../src/domain/webhook/delivery.ts'
import { readSettings } from '../../../../src/env.ts'
import { peekJob } from '../../../../src/queue/jobs.ts'
import { api, describe, env, evictDurableObject, expect, it, runInDurableObject, vi } from '../../../support/harness.ts'
import { advance, run } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'
import { eventually } from '../../../support/time.ts'
import {
  advanceSender,
  cancelled,
  finishJob,
  handOver,
  newHost,
  receivedBy,
  release,
  setUpWebhooks,
  submit,
  waitForDelivery,
  waitForReceived,
} from '../../../support/webhooks/webhooks.ts'

const secretOf = async (key: string): Promise<string> => (await api(key).get('/v2/webhooks/signing-secret')).body.secret
const outboxRows = (endpointId: string) =>
  runInDurableObject(endpointStub(env, endpointId), (_, ctx) => Number(ctx.storage.sql.exec('SELECT COUNT(*) AS n FROM outbox').one().n))

/** Milliseconds from the object's own time to its alarm. */
const alarmInMs = (endpointId: string) =>
  runInDurableObject(endpointStub(env, endpointId), async (object, ctx) => {
    return ((await ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY) - object.core.now()
  })

describe('a notification', () => {
  it('[HOOK-1, HOOK-2, HOOK-17] is the status record with input and webhook, byte for byte as they were sent', async () => {
    const { queue, host } = await setUpWebhooks()
    const url = `https://${host}/ok?token=s%20e`
    const { body } = await queue.post('/run', `{"input": {"one": 1.0},"webhook":"${url}"}`)
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.take()
    await worker.done(body.id, '{"output":{"big":12345678901234567890}}')
    const [request] = await waitForReceived(host, 1)
    const status = await (await queue.get(`/status/${body.id}`)).body
    expect(request?.body).toBe(
      `{"delayTime":${status.delayTime},"executionTime":${status.executionTime},"id":"${body.id}","input":{"one": 1.0},` +
        `"output":{"big":12345678901234567890},"status":"COMPLETED","webhook":"${url}","workerId":"${worker.id}"}`,
    )
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(request?.bytes),
      'user-agent': 'podplane-webhook/1',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    })
  })

  it('[HOOK-8] verifies with a Standard Webhooks library, and with no other secret', async () => {
    const setup = await setUpWebhooks()
    await finishJob(setup, '/ok', { output: 'grüße 🌍' })
    const [request] = await waitForReceived(setup.host, 1)
    const secret = await secretOf(setup.queue.account.key)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const body = request?.body ?? ''
    expect(new Webhook(secret).verify(body, request?.headers ?? {})).toMatchObject({ output: 'grüße 🌍' })
    expect(() => new Webhook(secret).verify(`${body} `, request?.headers ?? {})).toThrow()
    expect(() => new Webhook(`whsec_${btoa('another secret')}`).verify(body, request?.headers ?? {})).toThrow()
  })

  it('[HOOK-2, LIM-3] may be far larger than a row', async () => {
    const setup = await setUpWebhooks()
    const { queue, host } = setup
    const input = { text: 'ü🌍'.repeat(300_000) }
    const output = 'é'.repeat(1_200_000)
    const jobId = await submit(queue, `https://${host}/ok`, input)
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.take()
    await worker.done(jobId, { output })
    const [request] = await waitForReceived(host, 1)
    const status = (await queue.get(`/status/${jobId}`)).body
    const expected = JSON.stringify({
      delayTime: status.delayTime,
      executionTime: status.executionTime,
      id: jobId,
      input,
      output,
      status: 'COMPLETED',
      webhook: `https://${host}/ok`,
      workerId: worker.id,
    })
    const bytes = new TextEncoder().encode(expected)
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    expect(request?.bytes).toBe(bytes.length)
    expect(request?.sha256).toBe(Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''))
  })

  it('[HOOK-3] of a job that failed carries its error, and one that is retried and ends again is notified again', async () => {
    const setup = await setUpWebhooks()
    const { queue, host } = setup
    const jobId = await finishJob(setup, '/ok', { error: 'boom' })
    const [first] = await waitForReceived(host, 1)
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ id: jobId, status: 'FAILED', error: 'boom', input: {} })
    expect((await queue.post(`/retry/${jobId}`)).status).toBe(200)
    await queue.post(`/cancel/${jobId}`)
    const [, second] = await waitForReceived(host, 2)
    expect(JSON.parse(second?.body ?? '')).toMatchObject({ id: jobId, status: 'CANCELLED', input: {} })
    expect(second?.headers['webhook-id']).not.toBe(first?.headers['webhook-id'])
  })

  it('[HOOK-3] is sent for a cancelled job: by its owner, by a purge, by the end of the endpoint', async () => {
    const setup = await setUpWebhooks()
    const { queue } = setup
    const hosts = [newHost(), newHost(), newHost()]
    const [one = '', two = '', three = ''] = hosts
    const jobs = [await submit(queue, `https://${one}/ok`, { a: 1 }), await submit(queue, `https://${two}/ok`, { a: 2 })]
    await queue.post(`/cancel/${jobs[0]}`)
    await waitForReceived(one, 1)
    await queue.post('/purge-queue')
    await waitForReceived(two, 1)
    jobs.push(await submit(queue, `https://${three}/ok`, { a: 3 }))
    await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)
    await waitForReceived(three, 1)
    for (const [index, host] of hosts.entries()) {
      const requests = await receivedBy(host)
      expect(requests.map(({ body }) => JSON.parse(body ?? ''))).toEqual([
        {
          delayTime: expect.any(Number),
          executionTime: 0,
          id: jobs[index],
          input: { a: index + 1 },
          status: 'CANCELLED',
          webhook: `https://${host}/ok`,
          workerId: '',
        },
      ])
    }
  })

  it('[HOOK-3, TMO-11] of jobs whose time is over has that status, though a purge or the end of the endpoint comes before the alarm', async () => {
    const { queue, host } = await setUpWebhooks()
    const one = (await queue.post('/run', { input: {}, webhook: `https://${host}/ok`, policy: { ttl: 10_000 } })).body.id
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(one)
    const two = (await queue.post('/run', { input: {}, webhook: `https://${host}/ok`, policy: { ttl: 10_000 } })).body.id
    await runInDurableObject(endpointStub(env, queue.endpointId), ({ core }) => {
      const later = core.now() + 10_000
      core.now = () => later
      // Disables due work, so that the next call is the first to find the expired jobs.
      core.wake = async () => undefined
    })
    expect((await queue.post('/purge-queue')).body.removed).toBe(0)
    expect((await api(queue.account.key).delete(`/v2/serverless/${queue.endpointId}`)).status).toBe(204)
    const ended = (await waitForReceived(host, 2)).map(({ body }) => JSON.parse(body ?? ''))
    expect(new Map(ended.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [two, 'TIMED_OUT'],
        [one, 'TIMED_OUT'],
      ]),
    )
  })

  it('[HOOK-3, JOB-9] of a job whose ttl ends has the status TIMED_OUT; the end of its retention sends none', async () => {
    const { queue, host } = await setUpWebhooks()
    const body = { input: { a: 1 }, webhook: `https://${host}/ok`, policy: { ttl: 10_000 } }
    const jobId = (await queue.post('/run', body)).body.id
    await advance(queue.endpointId, 9_000)
    expect(await outboxRows(queue.endpointId)).toBe(0)
    await advance(queue.endpointId, 1_001)
    expect((await queue.get(`/status/${jobId}`)).status).toBe(404)
    const [request] = await waitForReceived(host, 1)
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      id: jobId,
      status: 'TIMED_OUT',
      input: { a: 1 },
      executionTime: 0,
      workerId: '',
    })

    const other = newHost()
    const cancelled = await submit(queue, `https://${other}/ok`)
    await queue.post(`/cancel/${cancelled}`)
    await waitForReceived(other, 1)
    await eventually(async () => ((await outboxRows(queue.endpointId)) === 0 ? true : null))
    // Disables the hand-over, so that later notifications remain in the outbox.
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.outbox.handOver = async () => false
    })
    await advance(queue.endpointId, 31 * 60_000)
    expect((await queue.get(`/status/${cancelled}`)).status).toBe(404)
    expect(await outboxRows(queue.endpointId)).toBe(0)
  })

  it('[HOOK-3] is sent for a lost worker too, and never for a job that names no webhook', async () => {
    const { queue, sender, host } = await setUpWebhooks()
    const jobId = (await queue.post('/run', { input: {}, webhook: `https://${host}/ok`, policy: { executionTimeout: 5_000 } })).body.id
    const worker = await queue.host.startWorker(queue.endpointId)
    await worker.take()
    await advance(queue.endpointId, 5_000)
    const [request] = await waitForReceived(host, 1)
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ id: jobId, status: 'FAILED', error: 'executionTimeout exceeded' })
    await waitForDelivery({ sender }, jobId, 'DELIVERED', 1)
    await eventually(async () => ((await outboxRows(queue.endpointId)) === 0 ? true : null))
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.outbox.handOver = async () => false
    })
    const plain = await run(queue)
    await queue.post(`/cancel/${plain}`)
    expect((await queue.get(`/status/${plain}`)).body.status).toBe('CANCELLED')
    expect(await outboxRows(queue.endpointId)).toBe(0)
  })

  it('[HOOK-7] is refused with a 400 that names the webhook if the guard refuses that, and no job is made', async () => {
    const { queue } = await setUpWebhooks()
    for (const webhook of ['https://10.0.0.1/', 'http://example.com/', 'https://user:pw@example.com/', 5, 'nowhere']) {
      for (const path of ['/run', '/runsync']) {
        const reply = await queue.post(path, { input: {}, webhook })
        expect(reply, String(webhook)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^\$\.webhook: /) } })
      }
    }
    expect((await queue.get('/health')).body.jobs.inQueue).toBe(0)
  })
})

describe('attempts', () => {
  it('[HOOK-4, HOOK-6, HOOK-8] are repeated 10 s apart with an identical body and id, and end with success', async () => {
    const setup = await setUpWebhooks()
    const { sender, host } = setup
    const jobId = await finishJob(setup, '/fail/2')
    const first = await waitForDelivery(setup, jobId, 'PENDING', 1)
    expect(first.state.attempts).toEqual([{ status: 503, atMs: expect.any(Number), durationMs: expect.any(Number) }])
    await runInDurableObject(sender, (object) => {
      object.now = () => (first.state.nextAtMs ?? 0) - 1
    })
    await advanceSender(sender, 0)
    expect(await receivedBy(host)).toHaveLength(1)
    await advanceSender(sender, 1)
    const second = await waitForDelivery(setup, jobId, 'PENDING', 2)
    expect(second.state.nextAtMs).toBe((first.state.nextAtMs ?? 0) + 10_000)
    await advanceSender(sender, 10_000)
    await waitForDelivery(setup, jobId, 'DELIVERED', 3)
    await advanceSender(sender, 60_000)

    const requests = await receivedBy(host)
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([first.id]))
    const [one, two, three] = requests.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect([(two ?? 0) - (one ?? 0), (three ?? 0) - (two ?? 0)]).toEqual([expect.any(Number), 10])
    const secret = await secretOf(setup.queue.account.key)
    // The library uses the real clock; the second and third attempts are a few seconds in its future, which it accepts.
    for (const { body, headers } of requests) expect(() => new Webhook(secret).verify(body ?? '', headers)).not.toThrow()
  })

  it('[HOOK-4, HOOK-5] end after three failures; the job stays unchanged', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    const jobId = await finishJob(setup, '/status/500', { output: 'kept' })
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await waitForDelivery(setup, jobId, attempt < 3 ? 'PENDING' : 'FAILED', attempt)
      await advanceSender(sender, 10_000)
    }
    await advanceSender(sender, 60_000)
    expect(await receivedBy(host)).toHaveLength(3)
    expect((await queue.get(`/status/${jobId}`)).body).toMatchObject({ status: 'COMPLETED', output: 'kept' })
  })

  it.each([201, 204])('[HOOK-5] status %i is success', async (status) => {
    const setup = await setUpWebhooks()
    const jobId = await finishJob(setup, `/status/${status}`)
    await waitForDelivery(setup, jobId, 'DELIVERED', 1)
  })

  it('[HOOK-10] a redirect is a failed attempt and is not followed', async () => {
    const setup = await setUpWebhooks()
    const jobId = await finishJob(setup, '/redirect')
    const delivery = await waitForDelivery(setup, jobId, 'PENDING', 1)
    expect(delivery.state.attempts).toMatchObject([{ status: 302 }])
    expect((await receivedBy(setup.host)).map(({ path }) => path)).toEqual(['/redirect'])
  })

  it('[HOOK-4] a receiver that does not reply in time is a failed attempt', async () => {
    const setup = await setUpWebhooks()
    await runInDurableObject(setup.sender, (object) => {
      expect(object.attemptTimeoutMs).toBe(10_000)
      object.attemptTimeoutMs = 50
    })
    const jobId = await finishJob(setup, '/hold')
    const delivery = await waitForDelivery(setup, jobId, 'PENDING', 1)
    expect(delivery.state.attempts).toMatchObject([{ error: 'no answer within 0.05 s' }])
    await release(setup.host)
  })

  it('[HOOK-7] the guard checks again before each attempt', async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_private', url: 'https://127.0.0.1/hook' })
    const delivery = await waitForDelivery(setup, 'job', 'PENDING', 1)
    expect(delivery.state.attempts).toMatchObject([{ error: expect.stringMatching(/^not sent: the host is private/) }])
    expect(await receivedBy('127.0.0.1')).toEqual([])
  })

  it('[HOOK-11, HOOK-19] a path that hangs holds half of its first places and delays nothing else: neither the queue nor other receivers', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    await runInDurableObject(sender, (object) => {
      expect(object.settings.webhooksPerReceiver).toBe(64)
      object.settings.webhooksPerReceiver = 16
    })
    const dead: string[] = []
    for (let n = 0; n < 6; n += 1) dead.push(await cancelled(queue, `https://${host}/hold?n=${n}`))
    await waitForReceived(host, 4)
    const live = newHost()
    const jobId = await submit(queue, `https://${live}/ok`)
    const worker = await queue.host.startWorker(queue.endpointId)
    expect((await worker.take())?.id).toBe(jobId)
    await worker.done(jobId, { output: 1 })
    await waitForReceived(live, 1)
    await waitForDelivery(setup, jobId, 'DELIVERED', 1)
    expect(await receivedBy(host)).toHaveLength(4)
    await eventually(async () => {
      await release(host)
      return (await receivedBy(host)).length === 6 ? true : null
    })
    await release(host)
    for (const id of dead) await waitForDelivery(setup, id, 'DELIVERED', 1)
  })

  it('[HOOK-11] the operator sets how many simultaneous attempts a receiver gets, over all its paths', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    await runInDurableObject(sender, (object) => {
      object.settings.webhooksPerReceiver = 6
    })
    for (let n = 0; n < 5; n += 1) await cancelled(queue, `https://${host}/hold/${n}`)
    await waitForReceived(host, 3)
    await waitForDelivery(setup, await cancelled(queue, `https://${newHost()}/ok`), 'DELIVERED', 1)
    expect(await receivedBy(host)).toHaveLength(3)
    await eventually(async () => {
      await release(host)
      return (await receivedBy(host)).length === 5 ? true : null
    })
    await release(host)
  })

  it('[HOOK-18] first attempts of a receiver do not wait for its retries, even if all of those hang', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    await runInDurableObject(sender, (object) => {
      object.settings.webhooksPerReceiver = 8
      object.attemptTimeoutMs = 50
    })
    const hanging: string[] = []
    for (let n = 0; n < 4; n += 1) hanging.push(await cancelled(queue, `https://${host}/hold/${n}`))
    for (const id of hanging) await waitForDelivery(setup, id, 'PENDING', 1)
    await runInDurableObject(sender, (object) => {
      object.attemptTimeoutMs = 60_000
    })
    await advanceSender(sender, 10_000)
    await waitForReceived(host, 8)
    await waitForDelivery(setup, await cancelled(queue, `https://${host}/ok`), 'DELIVERED', 1)
    await release(host)
    for (const id of hanging) await waitForDelivery(setup, id, 'DELIVERED', 2)
  })

  it('[HOOK-19] a path whose last attempt failed holds a quarter of the first places, until it answers with success', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    await runInDurableObject(sender, (object) => {
      object.settings.webhooksPerReceiver = 8
    })
    const failed = await cancelled(queue, `https://${host}/fail/1`)
    await waitForDelivery(setup, failed, 'PENDING', 1)
    for (let n = 0; n < 3; n += 1) await cancelled(queue, `https://${host}/fail/1?hold=${n}`)
    await waitForReceived(host, 2)
    await waitForDelivery(setup, await cancelled(queue, `https://${host}/ok`), 'DELIVERED', 1)
    expect((await receivedBy(host)).map(({ path }) => path)).toEqual(['/fail/1', '/fail/1', '/ok'])
    await release(host)
    await waitForReceived(host, 5)
    await release(host)
  })

  it('[HOOK-4] a retry is made in time, even if due deliveries wait for another receiver', async () => {
    const setup = await setUpWebhooks()
    const { queue, sender, host } = setup
    await runInDurableObject(sender, (object) => {
      object.settings.webhooksPerReceiver = 2
      object.attemptTimeoutMs = 60_000
    })
    const known = () => runInDurableObject(sender, ({ store }) => store.log({ after: null, limit: 10 }).length)
    for (let n = 0; n < 2; n += 1) await cancelled(queue, `https://${host}/hold`)
    await eventually(async () => ((await known()) === 2 ? true : null))
    const failed = await cancelled(queue, `https://${newHost()}/status/500`)
    const { state } = await waitForDelivery(setup, failed, 'PENDING', 1)
    expect(await runInDurableObject(sender, (_, ctx) => ctx.storage.getAlarm())).toBe(state.nextAtMs)
    await eventually(async () => {
      await release(host)
      return (await receivedBy(host)).length === 2 ? true : null
    })
    await release(host)
  })

  it('[HOOK-11] an attempt that a restart cut off is repeated with the same id', async () => {
    const setup = await setUpWebhooks()
    const { sender, host } = setup
    const jobId = await finishJob(setup, '/ok')
    const delivery = await waitForDelivery(setup, jobId, 'DELIVERED', 1)
    // Writes the state that the storage has during an attempt.
    await runInDurableObject(sender, (object) => {
      object.store.save(delivery, startAttempt({ ...delivery.state, status: 'PENDING', nextAtMs: object.now() }, object.now()), 'DELIVERED')
      void object.setAlarm(object.now() + 15_000)
    })
    await evictDurableObject(sender)
    expect(await runInDurableObject(sender, (object) => object.store.started())).toEqual([])
    await advanceSender(sender, 0)
    const after = await waitForDelivery(setup, jobId, 'DELIVERED', 3)
    expect(after.state.attempts.map((attempt) => ('error' in attempt ? attempt.error : attempt.status))).toEqual([
      200,
      expect.stringContaining('interrupted'),
      200,
    ])
    const ids = (await receivedBy(host)).map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([delivery.id, delivery.id])
  })
})

describe('the outbox', () => {
  it('[HOOK-3] is written with the terminal state: a crash before the hand-over loses nothing', async () => {
    const { queue, sender, host } = await setUpWebhooks()
    const stub = endpointStub(env, queue.endpointId)
    await runInDurableObject(stub, (object) => {
      object.core.outbox.handOver = async () => false
    })
    const jobId = await submit(queue, `https://${host}/ok`, { keep: 'me' })
    await queue.post(`/cancel/${jobId}`)
    expect(await outboxRows(queue.endpointId)).toBe(1)
    expect(await alarmInMs(queue.endpointId)).toBeLessThanOrEqual(5_000)
    await evictDurableObject(stub)
    expect(await runInDurableObject(sender, (object) => object.store.log({ after: null, limit: 1 }))).toEqual([])
    await advance(queue.endpointId, 0)
    const [request] = await waitForReceived(host, 1)
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ id: jobId, status: 'CANCELLED', input: { keep: 'me' } })
    await eventually(async () => ((await outboxRows(queue.endpointId)) === 0 ? true : null))
  })

  it('[HOOK-14] a hand-over that fails is repeated with a growing delay', async () => {
    const { queue, host } = await setUpWebhooks()
    const stub = endpointStub(env, queue.endpointId)
    const tries = { count: 0 }
    await runInDurableObject(stub, (object) => {
      const original = object.core.outbox.handOver.bind(object.core.outbox)
      const startedAtMs = object.core.now()
      object.core.now = () => startedAtMs
      object.core.outbox.handOver = async (row) => {
        tries.count += 1
        if (tries.count === 1) throw new Error('sender unreachable')
        return tries.count === 2 ? false : original(row)
      }
    })
    const jobId = await submit(queue, `https://${host}/ok`)
    await queue.post(`/cancel/${jobId}`)
    const due = () => runInDurableObject(stub, (object) => (object.core.outbox.dueAtMs(object.core.now()) ?? 0) - object.core.now())
    await eventually(async () => (tries.count === 1 && (await due()) === 1_000 ? true : null))
    expect(await alarmInMs(queue.endpointId)).toBeLessThanOrEqual(1_000)
    await advance(queue.endpointId, 999)
    expect(tries.count).toBe(1)
    await advance(queue.endpointId, 1)
    await eventually(async () => (tries.count === 2 && (await due()) === 2_000 ? true : null))
    expect(await alarmInMs(queue.endpointId)).toBeLessThanOrEqual(2_000)
    await advance(queue.endpointId, 2_000)
    await waitForReceived(host, 1)
    expect(tries.count).toBe(3)
  })

  it('[HOOK-14] an operation that throws leaves no notification behind', async () => {
    const { queue, host } = await setUpWebhooks()
    const jobId = await submit(queue, `https://${host}/ok`)
    await runInDurableObject(endpointStub(env, queue.endpointId), async (object) => {
      const failing = object.core.transact((tx) => {
        const job = peekJob(tx.state, jobId)
        if (job) object.core.state.outbox.add(job, job.webhook ?? '', ['{}'])
        throw new Error('planted')
      })
      await expect(failing).rejects.toThrow('planted')
      expect(object.core.outbox.dueAtMs(object.core.now())).toBeNull()
    })
    expect(await outboxRows(queue.endpointId)).toBe(0)
    expect((await queue.get(`/status/${jobId}`)).body.status).toBe('IN_QUEUE')
  })

  it('[HOOK-14] the same delivery handed over twice, even at once, is one delivery', async () => {
    const setup = await setUpWebhooks()
    const url = `https://${setup.host}/ok`
    let takes = 0
    await runInDurableObject(setup.sender, ({ store }) => {
      const nextN = store.nextN.bind(store)
      store.nextN = () => {
        takes += 1
        return nextN()
      }
    })
    const started = [0, 1].map(() => {
      const { readable, writable } = new FixedLengthStream(2)
      return { reply: handOver(setup, { id: 'msg_twice', url }, readable), writer: writable.getWriter() }
    })
    const bytes = (text: string) => new TextEncoder().encode(text)
    for (const { writer } of started) await writer.write(bytes('{'))
    await eventually(async () => (takes === 2 ? true : null))
    for (const { writer } of started) await writer.write(bytes('}')).then(() => writer.close())
    expect(await Promise.all(started.map(({ reply }) => reply))).toEqual([200, 200])
    await waitForDelivery(setup, 'job', 'DELIVERED', 1)
    expect(await handOver(setup, { id: 'msg_twice', url })).toBe(200)
    expect(await receivedBy(setup.host)).toHaveLength(1)
    await runInDurableObject(setup.sender, (object, ctx) => {
      expect(object.store.log({ after: null, limit: 10 })).toHaveLength(1)
      expect(ctx.storage.sql.exec('SELECT COUNT(*) AS n FROM pieces').one().n).toBe(1)
    })
  })
})

describe('limits', () => {
  it('[HOOK-14, CTL-3] a purge and a ttl that end many jobs pause when the outbox is full, and continue', async () => {
    const { queue, host } = await setUpWebhooks()
    await runInDurableObject(endpointStub(env, queue.endpointId), (object) => {
      object.core.state.outbox.meter = () => {
        let asked = 0
        return () => ++asked > 1
      }
    })
    for (let n = 0; n < 3; n += 1) await submit(queue, `https://${host}/ok`)
    expect((await queue.post('/purge-queue')).body).toEqual({ removed: 3, status: 'completed' })
    await waitForReceived(host, 3)
    for (let n = 0; n < 3; n += 1) await queue.post('/run', { input: {}, webhook: `https://${host}/ok`, policy: { ttl: 10_000 } })
    await advance(queue.endpointId, 10_000)
    for (let n = 4; n <= 6; n += 1) {
      await waitForReceived(host, n)
      await advance(queue.endpointId, 1)
    }
    const states = (await receivedBy(host)).map(({ body }) => JSON.parse(body ?? '').status)
    expect(states).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED', 'TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'])
  })

  it('[HOOK-14] a body that was truncated on its way is not taken for the whole', async () => {
    const setup = await setUpWebhooks()
    expect(await handOver(setup, { id: 'msg_cut', bytes: 3, url: `https://${setup.host}/ok` })).toBe(503)
    await runInDurableObject(setup.sender, (object, ctx) => {
      expect(object.store.byId('msg_cut')).toBeNull()
      expect(ctx.storage.sql.exec('SELECT COUNT(*) AS n FROM pieces').one().n).toBe(0)
    })
  })

  it('[HOOK-14] a delivery beyond 10,000 waiting ones is not attempted, and logged', async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_model', url: `https://${setup.host}/ok` })
    const model = await waitForDelivery(setup, 'job', 'DELIVERED', 1)
    const fill = (from: number, to: number) =>
      runInDurableObject(setup.sender, (object) => {
        const state = { ...model.state, status: 'PENDING' as const, nextAtMs: object.now() + 3_600_000 }
        for (let n = from; n < to; n += 1)
          object.store.insert({ ...model, n: object.store.nextN(), id: `msg_${n}`, jobId: 'waiting', state })
      })
    await fill(0, 9_999)
    await handOver(setup, { id: 'msg_last', jobId: 'last', url: `https://${setup.host}/ok` })
    await waitForDelivery(setup, 'last', 'DELIVERED', 1)
    await fill(9_999, 10_000)
    await handOver(setup, { id: 'msg_beyond', jobId: 'beyond', url: `https://${setup.host}/ok` })
    const beyond = await waitForDelivery(setup, 'beyond', 'FAILED', 1)
    expect(beyond.state.attempts).toMatchObject([{ error: expect.stringMatching(/^not sent: too many deliveries/) }])
    expect(await receivedBy(setup.host)).toHaveLength(2)
  })

  it('[HOOK-13, HOOK-14] refused deliveries take no more room than others that are over', async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_model', url: `https://${setup.host}/ok` })
    const model = await waitForDelivery(setup, 'job', 'DELIVERED', 1)
    await runInDurableObject(setup.sender, (object) => {
      for (let n = 1; n < 1_000; n += 1)
        object.store.insert({ ...model, n: object.store.nextN(), id: `msg_${n}`, createdAtMs: model.createdAtMs + 1 })
      object.store.hasRoom = () => false
    })
    await handOver(setup, { id: 'msg_beyond', jobId: 'beyond', url: `https://${setup.host}/ok` })
    const kept = await runInDurableObject(setup.sender, (object) => object.store.log({ after: null, limit: 2_000 }).map(({ id }) => id))
    expect([kept.length, kept.includes('msg_beyond'), kept.includes('msg_model')]).toEqual([1_000, true, false])
  })

  it('[HOOK-13] deliveries that are over are kept for 72 h, and the latest thousand at most', async () => {
    const setup = await setUpWebhooks()
    await handOver(setup, { id: 'msg_model', url: `https://${setup.host}/ok` })
    const model = await waitForDelivery(setup, 'job', 'DELIVERED', 1)
    const [before, at, later] = await runInDurableObject(setup.sender, (object) => {
      const has = (nowMs: number) => {
        object.store.prune(nowMs)
        return object.store.byId(model.id) !== null
      }
      const endMs = model.createdAtMs + 72 * 3_600_000
      return [has(endMs - 1), has(endMs), has(endMs + 1)]
    })
    expect([before, at, later]).toEqual([true, false, false])
    const ids = await runInDurableObject(setup.sender, (object) => {
      for (let n = 0; n < 1_002; n += 1) {
        object.store.insert({ ...model, n: object.store.nextN(), id: `msg_${n}`, createdAtMs: model.createdAtMs + n })
      }
      object.store.prune(model.createdAtMs + 2_000)
      return object.store.log({ after: null, limit: 2_000 }).map(({ id }) => id)
    })
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, 'msg_1001', 'msg_2'])
  })

  it('the remains of an unfinished hand-over are removed at the next start', async () => {
    const { sender } = await setUpWebhooks()
    await runInDurableObject(sender, (object) => object.store.pieces.insert(object.store.nextN(), 0, new Uint8Array([1])))
    await evictDurableObject(sender)
    const left = await runInDurableObject(sender, (_, ctx) => ctx.storage.sql.exec('SELECT COUNT(*) AS n FROM pieces').one().n)
    expect(left).toBe(0)
  })
})

it('[HOOK-15] the URL of a webhook reaches no log', async () => {
  const setup = await setUpWebhooks()
  const written: string[] = []
  const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...args: unknown[]) => {
      written.push(args.join(' '))
    }),
  )
  const settings = readSettings(env)
  const listen = async () => {
    await runInDurableObject(setup.sender, () => {})
    settings.logLevel = 'debug'
  }
  const giveUp = async () => {
    const jobId = await submit(setup.queue, `https://${setup.host}/status/500?token=very-secret`)
    await listen()
    await setup.queue.post(`/cancel/${jobId}`)
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await waitForDelivery(setup, jobId, attempt < 3 ? 'PENDING' : 'FAILED', attempt)
      await listen()
      await advanceSender(setup.sender, 10_000)
    }
  }
  // An object sets the log level of its isolate when it starts. On a slow machine one may start during this loop and suppress the output,
  // hence the repetition.
  while (!written.join('\n').includes('webhook given up')) await giveUp()
  settings.logLevel = 'error'
  for (const spy of spies) spy.mockRestore()
  expect(written.join('\n')).not.toContain('very-secret')
})
