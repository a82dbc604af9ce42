import { api, createAccount, describe, env, evictDurableObject, expect, it, runInDurableObject } from '../../support/harness.ts'
import { advance, run, runAndTake, setUpQueue } from '../../support/queue/queue.ts'
import { endpointStub } from '../../support/runner/stubs.ts'

const MINUTE_MS = 60_000
const iso = (ms: number) => new Date(ms).toISOString()

describe('history of endpoints', () => {
  it('[HIS-21] [HIS-22] shows queue, workers and spend over time, and events with their reasons, also to a restarted plane', async () => {
    const queue = await setUpQueue()
    const call = api(queue.account.key)
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    await evictDurableObject(endpointStub(env, queue.endpointId))
    const from = Math.floor(Date.now() / MINUTE_MS - 5) * MINUTE_MS
    const path = `/v2/serverless/${queue.endpointId}/timeline?from=${iso(from)}&step=60`
    const { status, body, headers } = await call.get(path)
    expect(status).toBe(200)
    expect(body).toMatchObject({ from: iso(from), step: 60 })
    const named = Object.fromEntries(body.series.map((one: { name: string }) => [one.name, one]))
    expect(Object.keys(named)).toEqual(['queued', 'inProgress', 'starting', 'throttled', 'ready', 'failed', 'spend'])
    expect(named.ready.points.at(-1)).toBe(1)
    expect(named.ready.points[0]).toBeNull()
    expect(Math.max(...named.queued.maxima)).toBe(1)
    expect(named.spend.points.every((usd: number) => usd >= 0)).toBe(true)
    const seen = body.events.map(({ kind, phase, workerId, release, decision }: Record<string, unknown>) => [
      kind,
      phase,
      workerId,
      release,
      decision === null,
    ])
    expect(seen.filter(([kind]: string[]) => kind === 'WORKER').map((event: unknown[]) => event.slice(1, 4))).toEqual([
      ['READY', worker.id, 1],
      ['STARTING', worker.id, 1],
      ['PLACING', worker.id, 1],
    ])
    expect(seen).toContainEqual(['RELEASE', null, null, 1, true])
    expect(seen).toContainEqual(['SCALING', null, null, null, false])
    expect(body.pagination).toEqual({ nextCursor: null, hasNextPage: false })
    expect(headers.get('ETag')).toMatch(/^"[0-9a-f]{24}"$/)
  })

  it('[HIS-22] the reason for the loss of a worker stands with it; pages continue where the previous one ended', async () => {
    const queue = await setUpQueue()
    const call = api(queue.account.key)
    const { worker } = await runAndTake(queue)
    await queue.host.report(worker.id, { state: 'exited', exitCode: 1, reason: 'killed by the kernel' })
    await runInDurableObject(endpointStub(env, queue.endpointId), (_, { storage }) => {
      const change = JSON.stringify({ workerId: 'w', phase: 'READY', reason: null, release: 1 })
      storage.sql.exec('UPDATE worker_changes SET n = n + 5000')
      const atMs = Date.now() - 100_000
      const insert = 'INSERT INTO worker_changes (n, at, change) VALUES (?, ?, ?)'
      for (let n = 1; n <= 1_200; n++) storage.sql.exec(insert, n, atMs + Math.floor(n / 7), change)
    })
    const from = iso(Math.floor(Date.now() / MINUTE_MS - 5) * MINUTE_MS)
    const to = iso(Date.now() + MINUTE_MS)
    const path = `/v2/serverless/${queue.endpointId}/timeline?from=${from}&to=${to}`
    const pages = [(await call.get(path)).body]
    while (pages.at(-1).pagination.nextCursor !== null) {
      pages.push((await call.get(`${path}&cursor=${pages.at(-1).pagination.nextCursor}`)).body)
    }
    expect(pages.map(({ events }) => events.length).slice(0, 2)).toEqual([500, 500])
    const events = pages.flatMap((page) => page.events)
    expect(events.filter(({ workerId }) => workerId === 'w')).toHaveLength(1_200)
    const failed = events.find(({ workerId, phase }) => workerId === worker.id && phase === 'FAILED')
    expect(failed.reason).toContain('killed by the kernel')
    expect((await call.get(`${path.replace('timeline?', 'timeline?step=30&')}&cursor=x`)).status).toBe(422)
  })

  it('[HIS-20] jobs add no row of their own to the timeline', async () => {
    const queue = await setUpQueue()
    const { jobId, worker } = await runAndTake(queue)
    await worker.done(jobId, { output: 1 })
    const rows = () =>
      runInDurableObject(endpointStub(env, queue.endpointId), (_, { storage }) =>
        storage.sql
          .exec('SELECT (SELECT COUNT(*) FROM worker_changes) AS changes, (SELECT SUM(LENGTH(samples)) FROM timeline_hours) AS bytes')
          .one(),
      )
    const before = await rows()
    for (let n = 0; n < 20; n++) {
      const id = await run(queue, { n })
      await worker.take()
      await worker.done(id, { output: n })
    }
    expect(await rows()).toEqual(before)
    await advance(queue.endpointId, MINUTE_MS + 1_000)
    expect(await rows()).not.toEqual(before)
  })

  it('[HIS-23] a worker has the history of its host, which other accounts cannot read', async () => {
    const queue = await setUpQueue()
    const { worker } = await runAndTake(queue)
    await queue.host.beat({ stats: [{ id: worker.id, cpu: 40 }] })
    const path = `/v2/serverless/${queue.endpointId}/workers/${worker.id}/metrics`
    const { body } = await api(queue.account.key).get(`${path}?step=5&from=${iso(Date.now() - MINUTE_MS)}`)
    expect(body.series).toMatchObject([{ name: 'cpu', unit: 'percent' }])
    expect(body.series[0].points).toContain(40)
    expect((await api((await createAccount()).key).get(path)).status).toBe(404)
    expect((await api(queue.account.key).get(path.replace(worker.id, 'nobody'))).status).toBe(404)
  })
})
