import fc from 'fast-check'
import { LOG_RETENTION_MS } from '../../../../durable-objects/pod-log.ts'
import { loseHostOfPods, returnHostOfPods } from '../../../../src/effects/pods/pod-hosts.ts'
import { notePod } from '../../../../src/effects/pods/pod-notes.ts'
import { podHost } from '../../../../src/effects/pods/with-pod-intents.ts'
import type { Workload } from '../../../../src/host-protocol/messages.ts'
import {
  api,
  createAccount,
  createKey,
  describe,
  env,
  evictDurableObject,
  expect,
  it,
  runDurableObjectAlarm,
  runInDurableObject,
} from '../../../support/harness.ts'
import type { LogReader } from '../../../support/http/log-reader.ts'
import { act, type HostedPod, hostedPod, logOf, readLog, readPod } from '../../../support/pods/pods.ts'

interface LoggedPod extends HostedPod {
  path: string
  read: (query?: string, lastEventId?: string) => Promise<LogReader>
}

async function setUpPod(): Promise<LoggedPod> {
  const pod = await hostedPod()
  return { ...pod, path: `/v2/pods/${pod.id}/logs`, read: (query, lastEventId) => readLog(pod, query, lastEventId) }
}

/** Loads the object first, because an unloaded object cannot be evicted. */
const evictLog = async (id: string) => {
  await runInDurableObject(logOf(id), () => {})
  await evictDurableObject(logOf(id))
}
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

describe('reading', () => {
  it('[LOG-1, LOG-3] the log of a pod is a stream; headers and frames are those of every log', async () => {
    const { host, first, read } = await setUpPod()
    const at = Date.UTC(2026, 5, 1, 12, 2, 3)
    await host.ship(first, [
      { at, line: 'hello' },
      { at, source: 'system', line: 'started' },
    ])
    const reader = await read()
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    expect(await reader.frame()).toBe(
      'id: 2026-06-01T12:02:03Z/000000000001\ndata: {"ts":"2026-06-01T12:02:03Z","source":"container","line":"hello"}',
    )
    expect(await (await read('?source=system')).lines(1)).toEqual(['started'])
    expect(await (await read('?tail=1')).lines(1)).toEqual(['started'])
    expect(await (await read('', '2026-06-01T12:02:03Z/000000000001')).lines(1)).toEqual(['started'])
    expect(await (await read('', '2026-06-01T12:02:02Z')).lines(2)).toEqual(['hello', 'started'])
    expect(await (await read('?since=2026-06-01T12:02:03Z')).lines(2)).toEqual(['hello', 'started'])
    await reader.close()
    host.leave()
  })

  it('[LOG-2, LOG-6, POD-16] refusals come before any byte; logs of members of a cluster are read like others', async () => {
    const { account, host, id, path, first, read } = await setUpPod()
    await host.ship(first, ['secret'])
    const otherTenant = await createAccount()
    const noPods = await createKey(account.userId, { permission: 'RESTRICTED', scopes: ['serverless:read'] })
    const tries: [string | null, string, number][] = [
      [otherTenant.key, path, 404],
      [account.key, '/v2/pods/nosuchpod/logs', 404],
      [account.key, `/v2/pods/${id}-1/logs`, 404],
      [account.key, `${path}?tail=5001`, 422],
      [account.key, `${path}?tail=`, 422],
      [account.key, `${path}?source=docker`, 422],
      [noPods.key, path, 403],
      [null, path, 401],
    ]
    for (const [key, url, status] of tries) {
      const reply = await api(key).get(url)
      expect(reply.status, url).toBe(status)
      expect(reply.headers.get('content-type'), url).toBe('application/problem+json')
      if (status === 404) expect(reply.body.detail, url).toBe('pod not found')
    }
    await env.DB.prepare('UPDATE pods SET cluster_id = ? WHERE id = ?').bind('c1', id).run()
    expect(await (await read()).lines(1)).toEqual(['secret'])
    host.leave()
  })

  it('[LOG-5, LOG-18] containers follow one another in the same log, each numbered from 1, also when the previous one is reported late', async () => {
    const { host, id, first, read } = await setUpPod()
    await host.report(first.id, { state: 'running' })
    await host.ship(first, ['1a', '1b'])
    await act(id, 'restart')
    const second = await host.waitFor((w) => w.id === `${id}-2`)
    await host.ship(second, ['2a'])
    expect(await host.ship(first, ['1b', '1c'], 2)).toEqual([{ workloadId: first.id, takenSeq: 3 }])
    expect(await host.ship(second, ['2a', '2b'])).toEqual([{ workloadId: second.id, takenSeq: 2 }])
    const events = await (await read('?source=container')).events(5)
    expect(events.map(({ line }) => line)).toEqual(['1a', '1b', '2a', '1c', '2b'])
    host.leave()
  })

  it('[HOST-13] lines that the full spool of one container dropped are noted in the log of its pod', async () => {
    const { host, id, first, read } = await setUpPod()
    await host.report(first.id, { state: 'running' })
    await host.ship(first, ['a'])
    await act(id, 'restart')
    const second = await host.waitFor((w) => w.id === `${id}-2`)
    const dropped = '41 lines dropped: the workload wrote more than this host could buffer for the plane'
    await host.ship(second, [
      { seq: 41, source: 'system', line: dropped },
      { seq: 42, line: 'b' },
    ])
    expect(await (await read('', '2026-06-01T12:00:00Z/000000000001')).lines(3)).toEqual(['restart: asked for', dropped, 'b'])
    host.leave()
  })
})

/** A pod that writes numbered lines and restarts on demand, and one reader of it that is cut off on demand. */
class PlayedLog {
  readonly seen: string[] = []
  written = 0
  private readonly pod: LoggedPod
  private workload: Workload
  private seq = 0
  private reader: LogReader | null = null
  private lastId = '2026-01-01T00:00:00Z/000000000000'

  constructor(pod: LoggedPod) {
    this.pod = pod
    this.workload = pod.first
  }

  async ship(count: number, isRepeated: boolean): Promise<void> {
    const lines = numbers(this.written + 1, this.written + count)
    for (let time = 0; time <= Number(isRepeated); time += 1) await this.pod.host.ship(this.workload, lines, this.seq + 1)
    this.seq += count
    this.written += count
  }

  async restart(): Promise<void> {
    await this.pod.host.report(this.workload.id, { state: 'running' })
    await act(this.pod.id, 'restart')
    const { generation } = await readPod(this.pod.id)
    this.workload = await this.pod.host.waitFor((w) => w.id === `${this.pod.id}-${generation}`)
    this.seq = 0
  }

  /** Reads up to `count` available lines; lines that have arrived beyond that are lost with the connection when it is cut. */
  async read(count: number): Promise<void> {
    this.reader ??= await this.pod.read('?source=container', this.lastId)
    for (const event of await this.reader.events(Math.min(count, this.written - this.seen.length))) {
      this.seen.push(event.line)
      this.lastId = event.id
    }
  }

  async cut(): Promise<void> {
    await this.reader?.close()
    this.reader = null
  }
}

describe('following', () => {
  const count = fc.integer({ min: 1, max: 90 })
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('ship' as const), count, isRepeated: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), count }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('cut' as const, 'restart' as const, 'evict' as const) }) },
  )

  it('[LOG-3] a reader that is cut off anywhere, over several containers, with repeats and evictions, gets every line once and in order', async () => {
    const pod = await setUpPod()
    // One pod for all histories: each continues where the previous one ended.
    const log = new PlayedLog(pod)
    const play = async (next: typeof step extends fc.Arbitrary<infer Step> ? Step : never) => {
      if (next.kind === 'ship') return log.ship(next.count, next.isRepeated)
      if (next.kind === 'read') return log.read(next.count)
      if (next.kind === 'restart') return log.restart()
      await log.cut()
      if (next.kind === 'evict') await evictLog(pod.id)
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        for (const next of steps) await play(next)
        await log.read(Number.POSITIVE_INFINITY)
        await log.cut()
        expect(log.seen).toEqual(numbers(1, log.written))
      }),
      { numRuns: 25, endOnFailure: true },
    )
    pod.host.leave()
  })
})

describe('notes of the plane', () => {
  it('[LOG-5, LOG-17] an event that only the plane knows is noted once per version, however often it is reported', async () => {
    const { host, id, first, read } = await setUpPod()
    await host.report(first.id, { state: 'running' })
    await act(id, 'stop')
    await host.report(first.id, { state: 'exited' })
    await act(id, 'start')
    await host.report(`${id}-2`, { state: 'running' })
    await act(id, 'restart')
    const pod = await readPod(id)
    await notePod(env, pod, 'restart: asked for')
    await notePod(env, { ...pod, id, version: pod.version + 1 }, null)
    await notePod(env, { ...pod, id, version: pod.version - 1 }, 'an older one')
    await notePod(env, { ...pod, id, version: pod.version + 1 }, 'next')
    const events = await (await read()).events(4)
    expect(events.map(({ source, line }) => [source, line])).toEqual([
      ['system', 'stop: asked for'],
      ['system', 'start: asked for'],
      ['system', 'restart: asked for'],
      ['system', 'next'],
    ])
    host.leave()
  })
})

describe('notes about hosts', () => {
  it('[LOG-17, POD-31] the loss and the return of a host are noted once each', async () => {
    const { host, id, first, read } = await setUpPod()
    await host.report(first.id, { state: 'running' })
    const here = podHost(env, host.id)
    for (let time = 0; time < 2; time += 1) await loseHostOfPods(env, here, Date.now())
    const report = { workloadId: first.id, state: 'running', exitCode: null, reason: null, at: Date.now(), sequence: 1 } as const
    for (let time = 0; time < 2; time += 1) await returnHostOfPods(env, host.id, [report])
    await act(id, 'stop')
    expect(await (await read('?source=system')).lines(3)).toEqual([
      expect.stringMatching(/^host lost: its host has been silent since .*; the pod recovers when the host reconnects$/),
      'host is back: the container still runs',
      'stop: asked for',
    ])
    host.leave()
  })
})

describe('the end of a log', () => {
  const passTime = async (id: string, ms: number) => {
    await runInDurableObject(logOf(id), (log) => {
      const before = log.now
      log.now = () => before() + ms
    })
    await runDurableObjectAlarm(logOf(id))
  }

  it('[LOG-11, LOG-19, LOG-6] a pod that exists keeps its log; the log of a terminated one cannot be read, and is deleted a day later', async () => {
    const { account, host, id, first, path, read } = await setUpPod()
    await host.report(first.id, { state: 'running' })
    await host.ship(first, ['a'])
    await passTime(id, 3 * LOG_RETENTION_MS)
    expect(await (await read()).lines(1)).toEqual(['a'])
    await act(id, 'stop')
    await passTime(id, 3 * LOG_RETENTION_MS)
    expect(await (await read()).lines(1)).toEqual(['a'])
    await act(id, 'terminate')
    expect((await api(account.key).get(path)).status).toBe(404)
    const kept = () => runInDurableObject(logOf(id), (log) => log.store.newest().n)
    await passTime(id, LOG_RETENTION_MS - 60_000)
    expect(await kept()).toBe(3)
    await passTime(id, 60_000)
    expect(await kept()).toBe(0)
    host.leave()
  })
})
