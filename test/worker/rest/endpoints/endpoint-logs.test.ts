import { api, createAccount, describe, env, expect, it, runInDurableObject } from '../../../support/harness.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { advance, type QueueSetup, runAndTake, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub } from '../../../support/runner/stubs.ts'

const START = Date.UTC(2026, 5, 1)

interface Page {
  lines: { workerId: string; line: string }[]
  older: string | null
  newer: string
  atEnd: boolean
}

async function read(queue: QueueSetup, query = ''): Promise<Page> {
  const { status, body } = await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/logs/lines?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Two workers that ran during the times of these tests and printed alternately. */
async function twoWorkers(): Promise<{ queue: QueueSetup; one: FakeWorker; two: FakeWorker }> {
  const queue = await setUpQueue({ workers: { min: 2, max: 2, idleTimeout: 300 } })
  const one = await queue.host.startWorker(queue.endpointId)
  const two = await queue.host.startWorker(queue.endpointId, [one.id])
  await runInDurableObject(endpointStub(env, queue.endpointId), (_, { storage }) => {
    storage.sql.exec('UPDATE worker_lives SET created_at = ?', START)
  })
  const lines = (name: string, first: number) => [0, 1, 2].map((n) => ({ at: START + (first + 2 * n) * 1_000, line: `${name}${n}` }))
  await queue.host.ship(one.workload, lines('a', 0))
  await queue.host.ship(two.workload, lines('b', 1))
  return { queue, one, two }
}

const textOf = ({ lines }: Page) => lines.map(({ line }) => line)
const cursor = (text: string | null) => `cursor=${encodeURIComponent(text ?? '')}`

describe('the log of an endpoint', () => {
  it('[LOG-34] joins its workers by time, pages both ways, and searches all of them', async () => {
    const { queue, one, two } = await twoWorkers()
    const all = ['a0', 'b0', 'a1', 'b1', 'a2', 'b2']
    const whole = await read(queue)
    expect(textOf(whole)).toEqual(all)
    expect(whole).toMatchObject({
      older: null,
      atEnd: true,
      lines: [{ workerId: one.id, n: 1 }, { workerId: two.id, n: 1 }, {}, {}, {}, {}],
    })
    const last = await read(queue, 'limit=2')
    expect(textOf(last)).toEqual(['a2', 'b2'])
    const middle = await read(queue, `limit=2&${cursor(last.older)}`)
    expect(textOf(middle)).toEqual(['a1', 'b1'])
    expect(textOf(await read(queue, `limit=9&${cursor(middle.older)}`))).toEqual(['a0', 'b0'])
    expect(textOf(await read(queue, `limit=9&${cursor(middle.newer)}`))).toEqual(['a2', 'b2'])
    expect(textOf(await read(queue, `since=${new Date(START + 2_000).toISOString()}&limit=3`))).toEqual(['a1', 'b1', 'a2'])
    expect(textOf(await read(queue, 'q=B'))).toEqual(['b0', 'b1', 'b2'])
    await queue.host.ship(one.workload, [{ at: START + 9_000, line: 'a3' }], 4)
    expect(textOf(await read(queue, cursor(whole.newer)))).toEqual(['a3'])
  })

  it('[LOG-34, LOG-11] has lines of a deleted worker, and for a job the lines of its worker during that job', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    const timeline = (await queue.get(`/timeline/${jobId}`)).body
    const startMs = Date.parse(timeline.attempts[0].startedAt)
    await advance(queue.endpointId, 5_000)
    await worker.done(jobId, { output: 1 })
    await queue.host.ship(worker.workload, [
      { at: startMs - 10, line: 'before' },
      { at: startMs + 10, line: 'during' },
      { at: startMs + 3_600_000, line: 'after' },
    ])
    expect(textOf(await read(queue, `job=${jobId}`))).toEqual(['during'])
    await queue.host.report(worker.id, { state: 'exited', exitCode: 0 })
    await advance(queue.endpointId, 3_600_000)
    expect(textOf(await read(queue))).toEqual(['before', 'during', 'after'])
    const missing = await api(queue.account.key).get(`/v2/serverless/${queue.endpointId}/logs/lines?job=none`)
    expect(missing.status).toBe(404)
    const otherTenant = api((await createAccount()).key)
    expect((await otherTenant.get(`/v2/serverless/${queue.endpointId}/logs/lines`)).status).toBe(404)
  })
})
