import { describe } from 'vitest'
import type { Reply } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'

const UNKNOWN_JOB = '00000000-0000-4000-8000-000000000000-u1'
const POST_OUTPUT = 'RUNPOD_WEBHOOK_POST_OUTPUT'
const MIB = 2 ** 20

describe('reading results', () => {
  scenario('[INV-19] WRK-5: a body is parsed as JSON with any content type', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const body = JSON.stringify({ output: { text: 'ß → 日本語', form: 'a=b&c=d%20e+f' } })
    for (const type of [
      'application/x-www-form-urlencoded',
      'application/json',
      'text/plain; charset=latin1',
      'application/octet-stream',
    ]) {
      const job = await endpoint.run()
      await worker.takeJob()
      expect((await worker.post(POST_OUTPUT, job, body, false, { 'content-type': type })).status, type).toBe(200)
      worker.holding.delete(job)
      expect(await endpoint.status(job), type).toMatchObject({ status: 'COMPLETED', output: { text: 'ß → 日本語', form: 'a=b&c=d%20e+f' } })
    }
  })

  scenario(
    '[INV-19] WRK-5: NaN and infinities, as Python writes them, are read as null; inside strings they stay',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.chunk(job, '{"output": {"loss": NaN}}')
      await worker.done(job, '{"output": {"loss": NaN, "range": [-Infinity, Infinity], "text": "NaN, -Infinity"}}')
      expect(await endpoint.stream(job)).toMatchObject({ stream: [{ output: { loss: null } }] })
      const { status, output } = await endpoint.status(job)
      expect({ status, output }).toEqual({ status: 'COMPLETED', output: { loss: null, range: [null, null], text: 'NaN, -Infinity' } })
    },
  )

  scenario('[INV-19] WRK-6: the path selects the job, regardless of X-Request-ID and the body', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const [mine, other] = [await endpoint.run(), await endpoint.run()]
    await worker.takeBatch(2)
    const body = { id: other, job_id: other, output: 'mine' }
    await worker.post(POST_OUTPUT, mine, body, false, { 'x-request-id': other })
    expect(await endpoint.status(mine)).toMatchObject({ status: 'COMPLETED', output: 'mine' })
    expect((await endpoint.status(other)).status).toBe('IN_PROGRESS')
    await worker.post('RUNPOD_WEBHOOK_POST_STREAM', other, { output: 'chunk' }, false, { 'x-request-id': mine })
    expect((await endpoint.stream(mine)).stream).toEqual([])
    expect((await endpoint.stream(other)).stream).toEqual([{ output: 'chunk' }])
  })
})

describe('answers to results', () => {
  scenario('[INV-20] WRK-18: late, repeated, fenced and unknown posts are 200 and change nothing', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    await worker.takeJob()
    await worker.done(job, { output: 'first' })
    const view = await endpoint.status(job)
    const running = await endpoint.run()
    await worker.takeJob()
    const posts: Record<string, Promise<Reply<unknown>>> = {
      'the same again': worker.done(job, { output: 'first' }),
      'another result': worker.done(job, { output: 'second' }),
      'an error after the end': worker.done(job, { error: 'late' }),
      'not JSON, after the end': worker.done(job, 'this is not JSON'),
      'an empty body, after the end': worker.done(job, ''),
      'a chunk after the end': worker.chunk(job, { output: 1 }),
      'a result of an unknown job': worker.done(UNKNOWN_JOB, { output: 1 }),
      'a chunk of an unknown job': worker.chunk(UNKNOWN_JOB, { output: 1 }),
      'a result of a malformed id': worker.done('not-a-job', { output: 1 }),
    }
    for (const [what, reply] of Object.entries(posts)) expect((await reply).status, what).toBe(200)
    await worker.done(running, { output: 'its own' })
    expect(await endpoint.status(job)).toEqual(view)
    expect((await endpoint.health()).jobs).toMatchObject({ completed: 2, failed: 0 })
  })

  scenario('[INV-20] LSE-6, LSE-10: posts under another boot nonce are 200 and change nothing', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    await worker.takeJob()
    for (const boot of ['boot=another', 'noboot=1']) {
      for (const variable of [POST_OUTPUT, 'RUNPOD_WEBHOOK_POST_STREAM']) {
        const url = `${worker.url(variable, job).replace(/boot=[^&]+/, boot)}&isStream=false`
        const reply = await fetch(url, { method: 'POST', headers: { authorization: worker.key }, body: '{"output":"forged"}' })
        expect(reply.status, variable).toBe(200)
      }
    }
    expect(await endpoint.stream(job, 1_000)).toEqual({ status: 'IN_PROGRESS', stream: [] })
    await worker.done(job, { output: 'true' })
    expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: 'true' })
  })

  scenario('[INV-20] WRK-18: results of deleted jobs and of a deleted endpoint are 200', { workers: 1 }, async (endpoint, tenant) => {
    const worker = await endpoint.nextWorker()
    worker.outlivesStop = true
    const expired = await endpoint.run({}, { policy: { ttl: 10_000 } })
    await worker.takeJob()
    await endpoint.isDropped(expired)
    expect((await worker.done(expired, { output: 'late' })).status).toBe(200)
    expect((await worker.chunk(expired, { output: 'late' })).status).toBe(200)
    expect((await endpoint.call('GET', `status/${expired}`)).status).toBe(404)
    await tenant.removeEndpoint(endpoint.id)
    expect((await worker.done(expired, { output: 'later' })).status).toBe(200)
    expect((await worker.ping([expired])).status).toBe(200)
  })
})

describe('progress and errors', () => {
  scenario('[INV-21] WRK-14, JOB-6: progress shows as output while the job runs and ends nothing', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    await worker.takeJob()
    for (const value of ['10 %', { step: 2 }, null]) {
      expect((await worker.progress(job, value)).status).toBe(200)
      expect(await endpoint.status(job)).toMatchObject({ status: 'IN_PROGRESS', output: value })
    }
    await worker.done(job, { output: 'result' })
    const view = await endpoint.status(job)
    expect(view).toMatchObject({ status: 'COMPLETED', output: 'result' })
    await worker.progress(job, '99 %')
    await worker.chunk(job, { output: 'late' })
    expect(await endpoint.status(job)).toEqual(view)
    expect(await endpoint.stream(job)).toEqual({ status: 'COMPLETED', stream: [] })
  })

  scenario('[INV-21] JOB-6: a cancelled job is not revived by posts of its worker', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const job = await endpoint.run()
    await worker.takeJob()
    const view = (await endpoint.call('POST', `cancel/${job}`)).body
    await worker.progress(job, 'still here')
    await worker.chunk(job, { output: 1 })
    await worker.done(job, { output: 'too late' })
    expect(await endpoint.status(job)).toEqual(view)
    expect(await endpoint.stream(job)).toEqual({ status: 'CANCELLED', stream: [] })
  })

  scenario('[INV-21] WRK-13: a truthy error of any type fails the job, and clients get a string', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    for (const error of ['text', { type: 'ValueError', at: [1] }, ['a', 'b'], 42, true]) {
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.done(job, { error, output: 'rest' })
      const view = await endpoint.status(job)
      expect(view).toMatchObject({ status: 'FAILED', output: 'rest', error: expect.any(String) })
      if (typeof error !== 'string') expect(JSON.parse(view.error ?? '')).toEqual(error)
    }
    for (const error of ['', null, false, 0]) {
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.done(job, { error, output: 'fine' })
      const view = await endpoint.status(job)
      expect(view).toMatchObject({ status: 'COMPLETED', output: 'fine' })
      expect(view).not.toHaveProperty('error')
    }
  })

  scenario('[INV-21] JOB-1: an empty result completes without output, a null one with null', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const empty = await endpoint.run()
    await worker.takeJob()
    await worker.done(empty, {})
    const view = await endpoint.status(empty)
    expect(view.status).toBe('COMPLETED')
    expect(view).not.toHaveProperty('output')
    const none = await endpoint.run()
    await worker.takeJob()
    await worker.done(none, { output: null })
    expect(await endpoint.status(none)).toMatchObject({ status: 'COMPLETED', output: null })
  })
})

describe('refresh and size', () => {
  scenario(
    '[INV-30] WRK-16: stopPod stops the worker once its result is stored, and another replaces it',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.done(job, { output: { kept: true }, stopPod: true })
      expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: { kept: true } })
      expect((await worker.stopOrdered).id).toBe(worker.id)
      const successor = await endpoint.nextWorker()
      expect(successor.id).not.toBe(worker.id)
      const next = await endpoint.run()
      expect((await successor.takeJob()).id).toBe(next)
    },
  )

  scenario('[INV-32] LIM-3: a large result is returned whole, a too large one fails with its reason', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    for (const size of [3 * MIB, 19 * MIB, 21 * MIB, 40 * MIB]) {
      const job = await endpoint.run()
      await worker.takeJob()
      expect((await worker.done(job, { output: { data: 'x'.repeat(size) } })).status, `${size} bytes`).toBe(200)
      const view = await endpoint.status(job)
      if (view.status === 'COMPLETED') expect((view.output as { data: string }).data.length, `${size} bytes`).toBe(size)
      else expect(view, `${size} bytes`).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/large|size|limit/) })
      if (size < 20 * MIB) expect(view.status, `${size} bytes`).toBe('COMPLETED')
    }
  })
})
