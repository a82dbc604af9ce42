import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quickPings } from '../support/agent/quick-pings.ts'
import { type DroppingProxy, startDroppingProxy } from '../support/plane/dropping-proxy.ts'
import { type JobView, TestEndpoint } from '../support/plane/endpoint.ts'
import { startAgent, startPlane, type TestAgent, type TestPlane } from '../support/plane/plane.ts'

// The network between a plane and its agent loses three of ten answers to workers that take jobs.

const JOBS = 200
const AT_ONCE = 20
/** Three of ten: the same losses in each run. */
const LOST = [true, false, false, true, false, false, true, false, false, false]

let plane: TestPlane
let proxy: DroppingProxy
let agent: TestAgent

beforeAll(async () => {
  plane = await startPlane({ args: ['--no-agent'], env: quickPings() })
  let answers = 0
  proxy = await startDroppingProxy(plane.url, () => LOST[answers++ % LOST.length] === true)
  agent = await startAgent({ plane: { ...plane, url: proxy.url }, name: 'behind-a-bad-network', simulateGpus: 'NVIDIA L4:4' })
}, 120_000)
afterAll(async () => {
  await agent?.stop()
  await proxy?.close()
  await plane?.stop()
})

describe('LSE-30: an answer that is lost between plane and worker', () => {
  test.concurrent.each([
    { kind: 'single jobs', concurrency: '1' },
    { kind: 'several jobs at a time', concurrency: '5' },
  ])(
    'costs no job an attempt: 200 of 200 complete, each once, for a worker that takes $kind',
    async ({ concurrency }) => {
      const before = proxy.counts.dropped
      const env = { PROBE_CONCURRENCY: concurrency }
      const endpoint = await TestEndpoint.create(plane, `lost-takes-${concurrency}`, { image: 'builtin/probe', env, workers: { max: 2 } })
      const ids: string[] = []
      for (let n = 0; n < JOBS; n += AT_ONCE) {
        ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => endpoint.run({ bytes: n + i })))))
      }
      const views: JobView[] = []
      for (let n = 0; n < JOBS; n += AT_ONCE) {
        views.push(...(await Promise.all(ids.slice(n, n + AT_ONCE).map((id) => endpoint.finished(id)))))
      }
      const received = views.map(({ id, status, output, retries }) => ({
        id,
        status,
        bytes: (output as { data: string }).data.length,
        retries,
      }))
      expect(received).toEqual(ids.map((id, n) => ({ id, status: 'COMPLETED', bytes: n, retries: undefined })))
      expect((await endpoint.health()).jobs).toMatchObject({ completed: JOBS, failed: 0, inQueue: 0, inProgress: 0 })
      expect(proxy.counts.dropped - before).toBeGreaterThan(10)
      await endpoint.remove()
    },
    300_000,
  )
})
