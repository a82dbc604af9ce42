import { describe } from 'vitest'
import { realTime } from '../support/time.ts'
import type { StreamView } from './support/endpoint.ts'
import { within } from './support/http.ts'
import { expect, scenario } from './support/scenario.ts'
import { readToEnd, STREAM_LOOPS } from './support/stream-loops.ts'

const GRAIN_MS = 50
/** Chunks of more bytes in total than any one reply can be expected to carry. */
const LARGE_CHUNK = 'x'.repeat(400_000)
const LARGE_CHUNKS = 30

describe('replies of stream', () => {
  scenario('[INV-10] STR-3, STR-6: an empty poll is held, and its stream is an array', {}, async (endpoint) => {
    const job = await endpoint.run()
    const reply = await endpoint.call<StreamView>('GET', `stream/${job}?wait=1500`)
    expect(reply.body).toEqual({ status: 'IN_QUEUE', stream: [] })
    expect(reply.elapsedMs).toBeGreaterThan(1_500 - GRAIN_MS)
  })

  scenario(
    '[INV-10] STR-1, STR-2: chunks arrive in order, as posted when they have an output, otherwise wrapped',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await worker.takeJob()
      const posted = [
        { output: 'text' },
        { output: { a: [1] }, metrics: { n: 2 } },
        { output: null },
        { token: 'bare' },
        ['list'],
        7,
        'ß日本',
      ]
      for (const chunk of posted) expect((await worker.chunk(job, JSON.stringify(chunk))).status).toBe(200)
      const wrapped = [...posted.slice(0, 3), ...posted.slice(3).map((output) => ({ output }))]
      expect(await endpoint.stream(job)).toEqual({ status: 'IN_PROGRESS', stream: wrapped })
    },
  )

  scenario(
    '[INV-10] STR-4, STR-5: chunks are delivered once; the terminal status comes with the last one and stays',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await worker.takeJob()
      await worker.chunk(job, { output: 1 })
      expect(await endpoint.stream(job)).toEqual({ status: 'IN_PROGRESS', stream: [{ output: 1 }] })
      expect(await endpoint.stream(job, 1_000)).toEqual({ status: 'IN_PROGRESS', stream: [] })
      await worker.chunk(job, { output: 2 })
      await worker.chunk(job, { output: 3 })
      await worker.done(job, { output: [] }, true)
      expect(await endpoint.stream(job)).toEqual({ status: 'COMPLETED', stream: [{ output: 2 }, { output: 3 }] })
      for (let again = 0; again < 3; again += 1) expect(await endpoint.stream(job)).toEqual({ status: 'COMPLETED', stream: [] })
      expect(await endpoint.status(job)).toMatchObject({ status: 'COMPLETED', output: [] })
    },
  )

  scenario(
    '[INV-10] STR-5: a finished job stays IN_PROGRESS in stream until its last chunks are sent',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const job = await endpoint.run()
      await worker.takeJob()
      for (let n = 0; n < LARGE_CHUNKS; n += 1) await worker.chunk(job, { output: { n, text: LARGE_CHUNK } })
      await worker.done(job, { output: [] }, true)
      const numbers: number[] = []
      for (let status = 'IN_PROGRESS'; status === 'IN_PROGRESS'; ) {
        const reply = await endpoint.stream(job)
        for (const { output } of reply.stream) numbers.push((output as { n: number }).n)
        status = reply.status
        if (status !== 'IN_PROGRESS') expect(status).toBe('COMPLETED')
      }
      expect(numbers).toEqual(Array.from({ length: LARGE_CHUNKS }, (_, n) => n))
    },
  )

  scenario(
    '[INV-10] STR-8, STR-9: without chunks the end is an empty array, and a failure also has its error',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const plain = await endpoint.run()
      await worker.takeJob()
      await worker.done(plain, { output: 'whole' })
      expect(await endpoint.stream(plain)).toEqual({ status: 'COMPLETED', stream: [] })
      const failed = await endpoint.run()
      await worker.takeJob()
      await worker.chunk(failed, { output: 1 })
      await worker.done(failed, { error: { why: 'dict' } }, true)
      const reply = await endpoint.stream(failed)
      expect(reply).toMatchObject({ status: 'FAILED', stream: [{ output: 1 }] })
      expect(JSON.parse(reply.error ?? '')).toEqual({ why: 'dict' })
      const cancelled = await endpoint.run()
      await endpoint.call('POST', `cancel/${cancelled}`)
      expect(await endpoint.stream(cancelled)).toEqual({ status: 'CANCELLED', stream: [] })
    },
  )
})

describe('the loops of known clients', () => {
  const CHUNKS = [0, 1, 2, 3, 4, 5, 6, 7]
  for (const [client, loop] of Object.entries(STREAM_LOOPS)) {
    for (const status of ['COMPLETED', 'FAILED']) {
      scenario(
        `[INV-11] STR-5, STR-7: the loop of ${client} ends for a ${status} job without losing a chunk`,
        { workers: 1 },
        async (endpoint) => {
          const worker = await endpoint.nextWorker()
          const job = await endpoint.run()
          const read = readToEnd(loop(endpoint, job))
          await worker.takeJob()
          for (const chunk of CHUNKS) {
            await worker.chunk(job, { output: chunk })
            // Some chunks arrive alone, some together, some with the end.
            if (chunk % 3 === 2) await realTime(700, 'the loop polls in between')
          }
          await worker.done(job, status === 'FAILED' ? { error: 'broke off' } : { output: [] }, true)
          expect(await within('the loop ends', read)).toEqual(CHUNKS)
          expect((await endpoint.status(job)).status).toBe(status)
        },
      )

      scenario(
        `[INV-11] STR-5, STR-7: the loop of ${client} reads all of a ${status} job that finished before the loop began`,
        { workers: 1 },
        async (endpoint) => {
          const worker = await endpoint.nextWorker()
          const job = await endpoint.run()
          await worker.takeJob()
          for (const chunk of CHUNKS) await worker.chunk(job, { output: chunk })
          await worker.done(job, status === 'FAILED' ? { error: 'broke off' } : { output: [] }, true)
          expect(await within('the loop ends', readToEnd(loop(endpoint, job)))).toEqual(CHUNKS)
        },
      )
    }
  }
})
