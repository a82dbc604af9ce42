import { LOG_RETENTION_MS } from '../../../../durable-objects/pod-log.ts'
import { LOG_RETAINED_LINES } from '../../../../src/domain/text/log-stream.ts'
import {
  api,
  createAccount,
  createEndpoint,
  describe,
  env,
  expect,
  it,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
  vi,
} from '../../../support/harness.ts'
import type { FakeWorker } from '../../../support/hosts/fake-host.ts'
import { LogReader } from '../../../support/http/log-reader.ts'
import { type QueueSetup, run, setUpQueue } from '../../../support/queue/queue.ts'
import { endpointStub, podLogStub } from '../../../support/runner/stubs.ts'
import { SOON } from '../../../support/time.ts'

interface Logged extends QueueSetup {
  worker: FakeWorker
  path: string
  read: (query?: string, lastEventId?: string) => Promise<LogReader>
}

/** An endpoint with a running worker. */
async function setUpLog(): Promise<Logged> {
  const queue = await setUpQueue()
  await run(queue)
  const worker = await queue.host.startWorker(queue.endpointId)
  const path = `/v2/serverless/${queue.endpointId}/workers/${worker.id}/logs`
  return { ...queue, worker, path, read: (query = '', lastEventId) => LogReader.open(queue.account.key, path + query, lastEventId) }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index))
const logOf = (worker: FakeWorker) => podLogStub(env, 'worker', worker.id)

describe('shipping', () => {
  it('[HOST-11] a batch that is sent again, in whole or in part, adds only new lines', async () => {
    const { host, worker, read } = await setUpLog()
    expect(await host.ship(worker.workload, ['a', 'b'])).toEqual([{ workloadId: worker.id, takenSeq: 2 }])
    expect(await host.ship(worker.workload, ['a', 'b'])).toEqual([{ workloadId: worker.id, takenSeq: 2 }])
    expect(await host.ship(worker.workload, ['b', 'c', 'd'], 2)).toEqual([{ workloadId: worker.id, takenSeq: 4 }])
    expect(await host.ship(worker.workload, ['old'])).toEqual([{ workloadId: worker.id, takenSeq: 4 }])
    // Numbers that the agent dropped remain absent.
    expect(await host.ship(worker.workload, ['g'], 7)).toEqual([{ workloadId: worker.id, takenSeq: 7 }])
    const events = await (await read()).events(5)
    expect(events.map(({ line }) => line)).toEqual(['a', 'b', 'c', 'd', 'g'])
    expect(events.map(({ id }) => id.split('/')[1])).toEqual([
      '000000000001',
      '000000000002',
      '000000000003',
      '000000000004',
      '000000000005',
    ])
  })

  it('[HOST-10] a host writes only logs of workloads that it was given, and one refused batch leaves the others', async () => {
    const { host, worker, read } = await setUpLog()
    const other = await setUpLog()
    const lines = [{ seq: 1, at: 1_000, source: 'container', line: 'x' }]
    const access = worker.workload.log
    const batches = [
      { workloadId: other.worker.id, access, lines },
      { workloadId: worker.id, access: { ...access, ownerId: other.endpointId }, lines },
      { workloadId: worker.id, access: { ...access, kind: 'pod' }, lines },
      { workloadId: worker.id, access: { ...access, grant: `${access?.grant}x` }, lines },
      { workloadId: worker.id, access, lines },
    ]
    const refused = 'this workload is not assigned to this host'
    expect(await host.shipRaw(batches)).toEqual([
      { workloadId: other.worker.id, refused },
      { workloadId: worker.id, refused },
      { workloadId: worker.id, refused },
      { workloadId: worker.id, refused },
      { workloadId: worker.id, takenSeq: 1 },
    ])
    expect(await (await read()).lines(1)).toEqual(['x'])
    expect(await runInDurableObject(logOf(other.worker), (object) => object.store.owner())).toBeNull()
  })

  it('[HOST-10] another host cannot use the proof, and a host without a token is 401', async () => {
    const { worker } = await setUpLog()
    const otherTenant = await (await import('../../../support/hosts/fake-host.ts')).FakeHost.join()
    expect(await otherTenant.ship(worker.workload, ['x'])).toEqual([{ workloadId: worker.id, refused: expect.any(String) }])
    otherTenant.leave()
    expect((await api(null).post('/host/v1/logs', { batches: [] })).status).toBe(401)
  })

  it('[LOG-10] the log keeps its newest lines within its limits, and numbers continue', async () => {
    const { host, worker, read } = await setUpLog()
    await runInDurableObject(logOf(worker), (log) => {
      log.archive.bucket = null
    })
    for (let first = 1; first <= LOG_RETAINED_LINES + 64; first += 128) {
      await host.ship(worker.workload, numbers(first, Math.min(first + 127, LOG_RETAINED_LINES + 64)), first)
    }
    const count = () => runInDurableObject(logOf(worker), (_, state) => state.storage.sql.exec('SELECT COUNT(*) AS c FROM lines').one().c)
    expect(await count()).toBe(LOG_RETAINED_LINES)
    const reader = await read('?tail=5000')
    const [first] = await reader.events(1)
    expect(first).toMatchObject({ line: '65', id: expect.stringMatching(/\/000000000065$/) })
    const rest = await reader.lines(LOG_RETAINED_LINES - 1)
    expect(rest).toEqual(numbers(66, LOG_RETAINED_LINES + 64))
    // 5 MB of text: the oldest lines go until 4 MiB remain.
    for (let n = 0; n < 10; n += 1) {
      const lines = Array.from({ length: 32 }, () => 'x'.repeat(16_384))
      await host.ship(worker.workload, lines, 10_000 + n * 32)
    }
    expect(await count()).toBe(256)
  })
})

describe('reading', () => {
  it('[LOG-1][LOG-3] headers and frames are exact', async () => {
    const { host, worker, read } = await setUpLog()
    const at = Date.UTC(2026, 5, 1, 12, 2, 3, 999)
    await host.ship(worker.workload, [
      { at, line: 'tab\t"quoted"\n\nid: 9' },
      { at, source: 'system', line: 'exited' },
    ])
    const reader = await read()
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    expect(await reader.frame()).toBe(
      'id: 2026-06-01T12:02:03Z/000000000001\ndata: {"ts":"2026-06-01T12:02:03Z","source":"container","line":"tab\\t\\"quoted\\"\\n\\nid: 9"}',
    )
    expect(await reader.frame()).toBe(
      'id: 2026-06-01T12:02:03Z/000000000002\ndata: {"ts":"2026-06-01T12:02:03Z","source":"system","line":"exited"}',
    )
  })

  it('[LOG-2] tail counts lines of the source; 0 shows only future lines; the default is 100', async () => {
    const { host, worker, read } = await setUpLog()
    const lines = numbers(1, 128).map((line, index) => ({ line, source: index % 2 === 0 ? ('container' as const) : ('system' as const) }))
    await host.ship(worker.workload, lines)
    expect(await (await read()).lines(1)).toEqual(['29'])
    expect(await (await read('?tail=3')).lines(3)).toEqual(['126', '127', '128'])
    expect(await (await read('?tail=2&source=container')).lines(2)).toEqual(['125', '127'])
    expect(await (await read('?tail=1&source=system')).lines(1)).toEqual(['128'])
    const fresh = await read('?tail=0')
    await host.ship(worker.workload, ['next'], 129)
    expect(await fresh.lines(1)).toEqual(['next'])
  })

  it('[LOG-2][LOG-14] since begins with the first line of that time; Last-Event-ID beats since, since beats tail', async () => {
    const { host, worker, read } = await setUpLog()
    // One line a second, from 12:00:00.
    await host.ship(worker.workload, numbers(0, 9))
    const since = (time: string) => `?tail=1&since=${encodeURIComponent(time)}`
    expect(await (await read(since('2026-06-01T12:00:07Z'))).lines(3)).toEqual(['7', '8', '9'])
    expect(await (await read(since('2026-06-01T14:00:07.001+02:00'))).lines(2)).toEqual(['8', '9'])
    const both = await read(since('2026-06-01T12:00:01Z'), '2026-06-01T12:00:05Z/000000000006')
    expect(await both.lines(1)).toEqual(['6'])
    const later = await read(since('2026-06-01T13:00:00Z'))
    await host.ship(worker.workload, ['next'], 11)
    expect(await later.lines(1)).toEqual(['next'])
  })

  it('[LOG-3][LOG-13] both forms of Last-Event-ID resume strictly after it', async () => {
    const { host, worker, read } = await setUpLog()
    const at = (ms: number) => Date.UTC(2026, 5, 1, 12, 0, 0, ms)
    await host.ship(worker.workload, [
      { at: at(0), line: 'a' },
      { at: at(999), line: 'b' },
      { at: at(1_000), line: 'c' },
      { at: at(1_001), line: 'd' },
    ])
    expect(await (await read('', '2026-06-01T12:00:00Z/000000000001')).lines(3)).toEqual(['b', 'c', 'd'])
    expect(await (await read('', '2026-06-01T12:00:00Z')).lines(2)).toEqual(['c', 'd'])
    expect(await (await read('', '2026-06-01T11:59:59Z')).lines(4)).toEqual(['a', 'b', 'c', 'd'])
    // A number beyond the end of this log belongs to another log, so only the time of the id is used.
    expect(await (await read('', '2026-06-01T12:00:00Z/000000000999')).lines(2)).toEqual(['c', 'd'])
    const end = await read('', '2026-06-01T12:00:01Z/000000000004')
    await host.ship(worker.workload, ['e'], 5)
    expect(await end.lines(1)).toEqual(['e'])
  })

  it('[LOG-2] values out of range or unknown are 422, before any stream byte', async () => {
    const { account, path } = await setUpLog()
    for (const query of ['tail=-1', 'tail=5001', 'tail=1.5', 'tail=x', 'source=docker', 'since=yesterday', 'since=2026-06-01']) {
      const reply = await api(account.key).get(`${path}?${query}`)
      expect(reply, query).toMatchObject({ status: 422, body: { title: 'Unprocessable Entity', errors: [expect.any(String)] } })
      expect(reply.headers.get('content-type'), query).toBe('application/problem+json')
    }
    for (const id of ['1', 'x/000000000001', '2026-13-01T00:00:00Z', '2026-06-01T12:00:00Z/', '2026-06-01T12:00:00Z/x']) {
      expect((await api(account.key).get(path, undefined, { 'Last-Event-ID': id })).status, id).toBe(422)
    }
    for (const query of ['tail=0', 'tail=5000', 'source=system']) await (await LogReader.open(account.key, `${path}?${query}`)).close()
  })

  it('[LOG-6] unknown endpoints and workers, foreign ones too, are 404 as a problem', async () => {
    const { account, host, worker, path, endpointId } = await setUpLog()
    await host.ship(worker.workload, ['secret'])
    const otherTenant = await createAccount()
    const own = await createEndpoint(otherTenant.key)
    const ownToo = await createEndpoint(account.key)
    const tries: [string, string][] = [
      [otherTenant.key, path],
      [otherTenant.key, `/v2/serverless/${own}/workers/${worker.id}/logs`],
      [account.key, `/v2/serverless/${ownToo}/workers/${worker.id}/logs`],
      [account.key, `/v2/serverless/${endpointId}/workers/nosuchworker/logs`],
      [account.key, `/v2/serverless/${endpointId}/workers/${'x'.repeat(65)}/logs`],
      [account.key, `/v2/serverless/nosuchendpoint/workers/${worker.id}/logs`],
    ]
    for (const [key, url] of tries) {
      const reply = await api(key).get(url)
      expect(reply, url).toMatchObject({ status: 404, body: { title: 'Not Found', status: 404, detail: 'resource not found' } })
      expect(reply.headers.get('content-type')).toBe('application/problem+json')
    }
    // The object refuses by itself, too, if a caller claims another owner.
    const claimed = { kind: 'worker', ownerId: own, isKnown: true } as const
    expect(await runInDurableObject(logOf(worker), (log) => log.readLines(claimed, []))).toBe('unknown')
    expect(await runInDurableObject(logOf(worker), (log) => log.readLines({ ...claimed, ownerId: endpointId }, []))).toEqual([])
    // The read creates no object.
    const made = env.POD_LOG.idFromName('worker:nosuchworker').toString()
    expect((await listDurableObjectIds(env.POD_LOG)).map(String)).not.toContain(made)
  })
})

describe('following', () => {
  it('[LOG-4] a log without a line yet can be followed, and lines arrive as they are written, of the requested source only', async () => {
    const { host, worker, read } = await setUpLog()
    const [all, system] = [await read(), await read('?source=system')]
    await host.ship(worker.workload, ['a', { source: 'system', line: 's' }, 'b'])
    expect(await all.lines(3)).toEqual(['a', 's', 'b'])
    expect(await system.lines(1)).toEqual(['s'])
    await host.ship(worker.workload, ['c', { source: 'system', line: 't' }], 4)
    expect(await all.lines(2)).toEqual(['c', 't'])
    expect(await system.lines(1)).toEqual(['t'])
  })

  it('[LOG-3] readers that connect and leave while lines are written lose none and see none twice', async () => {
    const { host, worker, read } = await setUpLog()
    const total = 400
    const write = async () => {
      for (let first = 1; first <= total; first += 10) {
        const batch = numbers(first, first + 9)
        await host.ship(worker.workload, batch, first)
        // An agent that did not receive the reply sends the batch again.
        if (first % 3 === 0) await host.ship(worker.workload, batch, first)
      }
    }
    const seen: string[] = []
    const readAll = async () => {
      let lastId: string | undefined
      while (seen.length < total) {
        const reader = await read('?tail=5000', lastId)
        const events = await reader.events(Math.min(7 + (seen.length % 23), total - seen.length))
        await reader.close()
        seen.push(...events.map(({ line }) => line))
        lastId = events.at(-1)?.id
      }
    }
    await Promise.all([write(), readAll()])
    expect(seen).toEqual(numbers(1, total))
  })

  it('[LOG-4] silence is broken by comments; a reader that leaves is removed', async () => {
    const { host, worker, read } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    expect(await runInDurableObject(logOf(worker), (object) => object.followers.silenceMs)).toBe(15_000)
    await runInDurableObject(logOf(worker), (object) => {
      object.followers.silenceMs = 20
    })
    const reader = await read()
    expect(await reader.lines(1)).toEqual(['a'])
    expect(await reader.frame()).toBe(': ping')
    expect(await reader.frame()).toBe(': ping')
    await host.ship(worker.workload, ['b'], 2)
    expect(await reader.lines(1)).toEqual(['b'])
    await reader.close()
    await vi.waitFor(async () => expect(await runInDurableObject(logOf(worker), (object) => object.followers.count)).toBe(0), SOON)
  })

  it('[LOG-12] a stream ends after an hour, and its reader resumes after its last event', async () => {
    const { host, worker, read } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    expect(await runInDurableObject(logOf(worker), (object) => object.followers.lifetimeMs)).toBe(3_600_000)
    await runInDurableObject(logOf(worker), (object) => {
      object.followers.silenceMs = 20
      object.followers.lifetimeMs = 100
    })
    const reader = await read()
    const [event] = await reader.events(1)
    for (;;) {
      const frame = await reader.frame()
      if (frame === ': ping') continue
      expect(frame).toBe('event: timeout\ndata: {}')
      break
    }
    expect(await reader.frame()).toBeNull()
    expect(await runInDurableObject(logOf(worker), (object) => object.followers.count)).toBe(0)
    await host.ship(worker.workload, ['b'], 2)
    expect(await (await read('', event?.id)).lines(1)).toEqual(['b'])
  })

  it('[LOG-15, API-7] a log has 100 readers at a time; one that leaves makes room', async () => {
    const { account, host, worker, path, read } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    const readers: LogReader[] = []
    for (let n = 0; n < 100; n += 1) readers.push(await read())
    const refused = await api(account.key).get(path)
    expect(refused).toMatchObject({ status: 429, body: { detail: 'too many readers follow this log; close one of them' } })
    expect(refused.headers.get('retry-after')).toBe('10')
    await readers[0]?.close()
    const late = await vi.waitFor(() => read(), SOON)
    expect(await late.lines(1)).toEqual(['a'])
    for (const reader of [late, ...readers.slice(1)]) await reader.close()
  })

  it('[LOG-4] a reader that does not read costs no memory: it gets the current tail when it continues', async () => {
    const { host, worker, read } = await setUpLog()
    await runInDurableObject(logOf(worker), (log) => {
      log.archive.bucket = null
    })
    await host.ship(worker.workload, ['a'])
    const slow = await read()
    expect(await slow.lines(1)).toEqual(['a'])
    for (let n = 0; n < 12; n += 1)
      await host.ship(
        worker.workload,
        Array.from({ length: 32 }, () => 'y'.repeat(16_384)),
        2 + n * 32,
      )
    await host.ship(worker.workload, ['z'], 1_000)
    const ids: number[] = []
    for (;;) {
      const [event] = await slow.events(1)
      ids.push(Number(event?.id.split('/')[1]))
      if (event?.line === 'z') break
    }
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(new Set(ids).size).toBe(ids.length)
    // 6 MB were written; lines that were dropped before this reader read on are gone, not buffered for it.
    expect(ids.length).toBeLessThan(384)
    await slow.close()
  })
})

describe('the end of a log', () => {
  const advance = async (worker: FakeWorker, ms: number) => {
    await runInDurableObject(logOf(worker), (object) => {
      const before = object.now
      object.now = () => before() + ms
    })
    await runDurableObjectAlarm(logOf(worker))
  }
  const discard = (endpointId: string, worker: FakeWorker) =>
    runInDurableObject(endpointStub(env, endpointId), (object) => object.core.state.workers.remove(worker.id))

  it('[LOG-11] it outlives its worker by a day, then it is deleted and its readers are notified', async () => {
    const { account, endpointId, host, worker, path, read } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    await discard(endpointId, worker)
    await advance(worker, LOG_RETENTION_MS - 60_000)
    const reader = await read()
    expect(await reader.lines(1)).toEqual(['a'])
    await advance(worker, 60_000)
    expect(await reader.frame()).toBe('event: timeout\ndata: {}')
    expect(await reader.frame()).toBeNull()
    expect((await api(account.key).get(path)).status).toBe(404)
  })

  it('[LOG-21] an endpoint knows its past workers for three days', async () => {
    const { account, endpointId, host, worker, path } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    await discard(endpointId, worker)
    const laterLeaves = (days: number) =>
      runInDurableObject(endpointStub(env, endpointId), ({ core: { state } }) => {
        state.begin(Date.now() + days * 24 * 3_600_000)
        state.workers.remove('another')
        return state.workers.recall(worker.id)
      })
    expect(await laterLeaves(2)).toBe('former')
    expect(await laterLeaves(4)).toBeNull()
    expect((await api(account.key).get(path)).status).toBe(404)
  })

  it('[LOG-11, HOST-11] lines that arrive while the plane checks whether its worker exists are kept', async () => {
    const { host, worker, endpointId } = await setUpLog()
    await host.ship(worker.workload, ['old'])
    await discard(endpointId, worker)
    const kept = await runInDurableObject(logOf(worker), async (log) => {
      const later = Date.now() + LOG_RETENTION_MS
      log.now = () => later
      const checked = log.alarm()
      const line = { seq: 2, at: later, source: 'container' as const, line: 'new' }
      await log.append({ kind: 'worker', ownerId: endpointId, workloadId: worker.id }, [line])
      await checked
      return log.store.after(0, undefined, 10).map((stored) => stored.line)
    })
    expect(kept).toEqual(['old', 'new'])
  })

  it('[LOG-11] a worker that is silent for days keeps its log', async () => {
    const { host, worker, read } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    await advance(worker, 3 * LOG_RETENTION_MS)
    expect(await (await read()).lines(1)).toEqual(['a'])
  })

  it('[LOG-6] logs of a deleted endpoint cannot be read', async () => {
    const { account, endpointId, host, worker, path } = await setUpLog()
    await host.ship(worker.workload, ['a'])
    expect((await api(account.key).delete(`/v2/serverless/${endpointId}`)).status).toBe(204)
    expect((await api(account.key).get(path)).status).toBe(404)
  })
})
