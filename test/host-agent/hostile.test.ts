import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { connectDocker } from '../../src/host-agent/docker/engine/client.ts'
import { EngineServer } from '../../src/host-agent/docker/engine/serve.ts'
import { HostPorts } from '../../src/host-agent/docker/ports/host-ports.ts'
import { DockerRuntime, type DockerRuntimeOptions } from '../../src/host-agent/docker/runtime.ts'
import { Caller } from '../../src/host-agent/engine/caller.ts'
import { CALL_RULES, type CallName } from '../../src/host-agent/engine/calls.ts'
import type { DockerEngine } from '../../src/host-agent/engine/engine.ts'
import { encodeFrame, type Frame, frameDecoder } from '../../src/host-agent/engine/frames.ts'
import { silentLog } from '../../src/host-agent/log.ts'
import { LogShipper } from '../../src/host-agent/logs/shipper.ts'
import type { AccessTokens } from '../../src/host-agent/plane/access-tokens.ts'
import { Link } from '../../src/host-agent/plane/link.ts'
import { startRelay } from '../../src/host-agent/relay/relay.ts'
import { WorkloadLedger } from '../../src/host-agent/workloads/ledger.ts'
import { WorkloadRecords } from '../../src/host-agent/workloads/records.ts'
import { Supervisor } from '../../src/host-agent/workloads/supervisor.ts'
import { until } from '../support/time.ts'
import { admitted, asWorker } from './support/callers.ts'
import { HOSTILE_IMAGES } from './support/hostile-images.ts'
import { tempDir } from './support/temp-dir.ts'

const SEED = 20_261
const DESIRED = 4_500
const ENGINE = 2_500
const RELAY = 3_000
const BATCH = 10
/** Marks the last desired state. */
const LAST_MS = 4_242
/** They take about 20 s; a busy machine takes longer. */
const SLOW_MS = 120_000
const log = silentLog()

const sample = <T>(values: fc.Arbitrary<T>, count: number) => fc.sample(values, { seed: SEED, numRuns: count })
const word = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  fc.constantFrom('__proto__', '..', '/', '', '\0', '{{relay_url}}', 'x'.repeat(5_000)),
)
const junk = fc.jsonValue({ maxDepth: 4 })

/** Workloads as a tenant, or a broken plane, may send them. */
const id = fc.oneof({ weight: 40, arbitrary: fc.integer({ min: 0, max: 400 }).map((number) => `p-${number}`) }, word)
const workload = fc.record(
  {
    id,
    kind: fc.constantFrom('pod', 'worker'),
    desired: fc.constantFrom('running', 'running', 'held', 'stopped'),
    stopGraceMs: fc.nat(50),
    image: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('nginx', 'ubuntu:24.04', `r.example/a/b@sha256:${'a'.repeat(64)}`) },
      fc.constantFrom(...HOSTILE_IMAGES, 'nginx', 'builtin/idle', 'builtin/x'),
      word.filter((text) => text.length > 0 && text.length <= 1_024),
    ),
    entrypoint: fc.array(word, { maxLength: 3 }),
    cmd: fc.array(word, { maxLength: 3 }),
    env: fc.dictionary(word, word, { maxKeys: 4 }),
    platformEnv: fc.dictionary(word, word, { maxKeys: 2 }),
    ports: fc.array(fc.oneof(fc.constantFrom('22/tcp', '8888/http', '70001/tcp', '0/tcp', '-1/x'), word), { maxLength: 4 }),
    resources: fc.record({
      vcpus: fc.double({ min: 0, noNaN: true }),
      memoryMb: fc.maxSafeNat(),
      diskGb: fc.maxSafeNat(),
      gpu: fc.option(fc.record({ typeId: word, count: fc.integer({ min: 1, max: 9 }) })),
    }),
    replaces: fc.array(id, { maxLength: 3 }),
    keepDisk: fc.boolean(),
    mounts: fc.array(
      fc.record({
        kind: fc.constantFrom('persistent', 'network', 'global'),
        id: fc.oneof({ weight: 1, arbitrary: word }, { weight: 30, arbitrary: fc.constant('v') }),
        path: fc.constantFrom('/w', '..', '/', '/etc', '/proc/1', 'a b', '/x:ro', '\0'),
      }),
      { maxLength: 3 },
    ),
    wipe: fc.boolean(),
    registryAuth: fc.record({ username: word, password: word }),
  },
  { requiredKeys: ['id', 'kind', 'desired', 'stopGraceMs', 'image', 'entrypoint', 'cmd', 'env', 'platformEnv', 'ports', 'resources'] },
)
const message = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { workloads: fc.array(workload, { maxLength: 4 }), silenceMaxMs: fc.nat(), after: id, more: fc.boolean() },
      { requiredKeys: ['workloads'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('desired', 'beatAck', 'x'),
      revision: fc.constantFrom('x', null, [], -1, 1.5),
      workloads: junk,
      beat: junk,
    }),
  },
  { weight: 1, arbitrary: junk },
)

const STATES = ['created', 'running', 'exited', 'dead', 'removing']
/** Facts of a container that may be this host's, in the form that is asked for or in another. */
const facts = fc.record({
  name: word,
  labels: fc.oneof(
    fc.constant({ 'podplane.host': 'h', 'podplane.workload': 'p-1', 'podplane.ports': '[{"private":{}}]' }),
    fc.dictionary(word, word),
  ),
  status: fc.constantFrom(...STATES),
  exitCode: fc.integer(),
  outOfMemory: fc.boolean(),
  startedAtMs: fc.option(fc.double({ noNaN: true })),
  endedAtMs: fc.option(fc.double({ noNaN: true })),
  addresses: fc.array(word),
  anonymousVolumes: fc.array(fc.record({ name: word, path: fc.constantFrom('/w', '..', '/', '/etc', '/proc/1', 'a b', '/x:ro', '\0') })),
})
const answer = fc.record({
  kind: fc.constantFrom<Frame['kind'][]>('value', 'value', 'value', 'bytes', 'failure', 'stream', 'piece', 'end', 'pong', 'call'),
  text: fc.oneof(
    facts.map((value) => JSON.stringify(value)),
    fc.constantFrom(
      '',
      '[]',
      '{"text":"no such container","statusCode":404}',
      '{"text":"port is already allocated"}',
      '{"text":"error setting rlimit"}',
    ),
    junk.map((value) => JSON.stringify(value)),
    word,
  ),
})

// Thousands of requests, a sample of them against programs.
describe('[HOST-74] [C2] no input of a tenant, an engine or a plane ends the agent', { timeout: 120_000 }, () => {
  const uncaught: unknown[] = []
  const onUncaught = (error: unknown) => void uncaught.push(error)

  beforeEach(() => {
    uncaught.length = 0
    process.on('uncaughtException', onUncaught)
    process.on('unhandledRejection', onUncaught)
  })
  afterEach(() => {
    process.off('uncaughtException', onUncaught)
    process.off('unhandledRejection', onUncaught)
    vi.unstubAllEnvs()
  })

  test(
    `${DESIRED} desired states, with an engine that answers anything`,
    async () => {
      const dir = tempDir('hostile')
      const answers = sample(answer, 500)
      let answered = 0
      const caller: Caller = new Caller((kind, call) => {
        if (kind !== 'call') return
        const { kind: as, text } = answers[answered++ % answers.length] ?? { kind: 'end' as const, text: '' }
        queueMicrotask(() => caller.take({ kind: as, call, payload: Buffer.from(text) }))
        // On any answer the call ends.
        setImmediate(() => caller.take({ kind: 'failure', call, payload: Buffer.from('{"text":"over"}') }))
      })
      const calls = (Object.keys(CALL_RULES) as CallName[]).map((name) => [name, (...args: unknown[]) => caller.make(name, args)])
      const engine = Object.fromEntries(calls) as DockerEngine
      const options = {
        engine,
        hostId: 'h',
        stateDir: dir,
        images: { allowed: new Map(), localImages: true, maxBytes: 2 ** 30 },
        egress: {
          call: async () => Promise.reject(new Error('nothing answers')),
          originOf: (host: string) => `https://${host}`,
          check: () => {},
        },
        gpus: { devices: [], simulatedTypes: new Set(['NVIDIA L4']) },
        ports: new HostPorts({ range: { from: 30_000, to: 30_020 }, isFree: async () => true }),
        mounts: {},
        trial: { find: async () => ({ limitsDisk: true, raisesLimits: true }) },
        publicIp: null,
        relayUrl: 'http://127.0.0.1:1',
        realVcpus: 2,
        realMemoryMb: 1_024,
        log,
      }
      const runtime = new DockerRuntime(options as unknown as DockerRuntimeOptions)
      let reports = 0
      const report = () => {
        reports += 1
      }
      const records = new WorkloadRecords(join(dir, 'workloads'), Date.now())
      const ledger = new WorkloadLedger({ records, report, log, now: Date.now })
      const logs = new LogShipper({ dir: join(dir, 'logs'), send: async () => undefined, log, now: Date.now })
      const supervisor = new Supervisor({
        runtimes: [runtime],
        ledger,
        volumes: { wipe: async () => {} },
        logs,
        log,
        now: Date.now,
        isReporting: () => false,
      })
      const plane = new WebSocketServer({ port: 0, host: '127.0.0.1' })
      const links: WebSocket[] = []
      let sent = 0
      let heard = 0
      plane.on('connection', (socket) => {
        links.push(socket)
        socket.on('pong', () => {
          heard += 1
        })
        socket.on('message', (data) => {
          const { type, after, beat } = JSON.parse(String(data))
          // A link whose beats are not acknowledged ends after 15 s, which is less than a busy machine takes for this.
          if (type === 'beat') socket.send(JSON.stringify({ type: 'beatAck', beat }))
          const rest = { type: 'desired', revision: sent, workloads: [], silenceMaxMs: sent === DESIRED ? LAST_MS : 0 }
          if (type === 'more') socket.send(JSON.stringify(after === null ? rest : { ...rest, after }))
        })
      })
      await until(() => plane.address() !== null)
      let applied = 0
      let last = 0
      const link = new Link({
        planeUrl: `http://127.0.0.1:${(plane.address() as AddressInfo).port}`,
        tokens: { get: async () => 'x', invalidate: () => {} } as unknown as AccessTokens,
        log,
        hello: () => ({ type: 'hello', inventory: {} as never, workloads: ledger.helloReports() }),
        beat: () => ({ workloads: ledger.beatStates() }),
        onDesired: (workloads, silenceMaxMs) => {
          applied += 1
          last = silenceMaxMs
          supervisor.apply(workloads)
        },
        onLease: () => {},
        onRevoked: () => {},
      })
      const running = link.run()
      await until(() => links.length === 1)
      const states = sample(message, DESIRED)
      for (const [revision, state] of states.entries()) {
        const isFrame = typeof state === 'object' && state !== null && !Array.isArray(state)
        sent = revision
        links[0]?.send(JSON.stringify(isFrame ? { type: 'desired', revision, ...state } : state))
        if (revision % BATCH !== 0) continue
        const one = `p-${revision % 400}`
        await Promise.allSettled([runtime.list(), runtime.usage(one), runtime.stop(one, 0), runtime.remove(one)])
        // Answered after all that came before.
        const before = heard
        links[0]?.ping()
        await until(() => heard > before)
      }
      sent = DESIRED
      links[0]?.send(JSON.stringify({ type: 'desired', revision: DESIRED, workloads: [], silenceMaxMs: LAST_MS }))
      await until(() => last === LAST_MS)
      expect(uncaught).toEqual([])
      expect(links).toHaveLength(1)
      expect(applied).toBeGreaterThan(DESIRED / 10)
      expect(reports).toBeGreaterThan(300)
      expect(answered).toBeGreaterThan(1_000)
      link.close()
      await running
      supervisor.leave()
      plane.close()
    },
    SLOW_MS,
  )

  test(
    `${ENGINE} answers of an engine to every call that the agent makes`,
    async () => {
      const socket = join(tempDir('hostile'), 'engine.sock')
      const status = fc.constantFrom('200 OK', '201 Created', '204 No', '301 Moved', '304 Not', '404 No', '500 Oh', '99 x', '999 x', 'abc')
      const header = fc.oneof(
        fc.constantFrom(
          'Transfer-Encoding: chunked',
          'Content-Length: 5',
          'Content-Length: 99999999',
          'Content-Length: -1',
          'Content-Length: 1\r\nContent-Length: 2',
        ),
        fc.constantFrom(
          'Location: http:/x',
          'Location: /images/a/json',
          'Upgrade: tcp',
          'Connection: upgrade',
          `X: ${'y'.repeat(100_000)}`,
          'broken',
          'A\0: b',
        ),
      )
      const body = fc.oneof(
        fc.constantFrom(
          '',
          '{"a',
          'null',
          '7',
          '[]',
          '[null]',
          '{}',
          '{"message":{}}',
          'ZZZ\r\n{}\r\n',
          '5\r\n{"a":\r\n0\r\n\r\n',
          'ffffffffffffffff\r\nx',
          '[[[[',
          '{"State":7}',
        ),
        fc
          .record({ Name: junk, Config: junk, State: junk, Mounts: junk, NetworkSettings: junk, Id: junk, RepoTags: junk, RootFS: junk })
          .map((value) => JSON.stringify(value)),
        junk.map((value) => JSON.stringify(value)),
        word,
      )
      const raw = fc.oneof(
        fc
          .tuple(status, fc.array(header, { maxLength: 3 }), body)
          .map(([line, headers, text]) => `HTTP/1.1 ${[line, ...headers].join('\r\n')}\r\n\r\n${text}`),
        word,
      )
      let next = ''
      const server = createServer((connection) => {
        connection.on('error', () => {})
        connection.once('data', (data) => {
          const isVersion = String(data).includes('/version')
          const text = '{"ApiVersion":"1.41","MinAPIVersion":"1.12"}'
          connection.end(isVersion ? `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}` : next)
        })
      }).listen(socket)
      vi.stubEnv('DOCKER_HOST', `unix://${socket}`)
      const [near, far] = duplexPair()
      new EngineServer(far, connectDocker)
      const caller = new Caller((...frame) => near.write(encodeFrame(...frame)))
      const decode = frameDecoder()
      near.on('data', (data: Buffer) => {
        for (const frame of decode(data)) caller.take(frame)
      })
      const ARGS: Partial<Record<CallName, unknown[]>> = {
        load: [{ config: '', layers: [], tag: 'a:1' }, new AbortController().signal],
        create: ['c', { Image: 'a' }],
        commit: ['c', { repository: 'r', tag: 't', label: 'a=b' }],
        flatten: ['c', { repository: 'r', tag: 't', label: 'a=b' }],
        followLogs: ['c', 0, new AbortController().signal],
      }
      const names = Object.keys(CALL_RULES) as CallName[]
      let settled = 0
      for (const [index, text] of sample(raw, ENGINE).entries()) {
        next = text
        const name = names[index % names.length] ?? 'info'
        await readAll(caller.make(name, ARGS[name] ?? ['c', 1])).catch(() => {})
        settled += 1
      }
      expect(uncaught).toEqual([])
      expect(settled).toBe(ENGINE)
      far.destroy()
      server.close()
    },
    SLOW_MS,
  )

  test(
    `${RELAY} requests to the relay`,
    async () => {
      const plane = createServer((connection) =>
        connection.on('error', () => {}).on('data', () => connection.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
      )
      await new Promise<void>((resolve) => plane.listen(0, '127.0.0.1', resolve))
      const planeUrl = `http://127.0.0.1:${(plane.address() as AddressInfo).port}`
      const relay = await startRelay({
        planeUrl,
        address: '127.0.0.1',
        callers: admitted(['w1']),
        log,
        spoolDir: tempDir('hostile'),
        bounds: { pollHoldMs: 50, spoolAfterMs: 50 },
      })
      const path = fc.oneof(
        fc.constantFrom(
          '/v2/e/ping/w1',
          '/v2/e/job-take/w1?gpu=x',
          '/v2/e/job-done/w1/j?isStream=false',
          '/v2/e/job-stream/w1/j',
          '/v2/e/job-stop/w1',
          'http://169.254.169.254/',
          '*',
          '/v2/%zz/ping/w1',
          '//',
          '/',
        ),
        word.map((text) => `/v2/${text.replace(/\s/g, '')}`),
      )
      const header = fc.oneof(
        fc.constantFrom(
          'Authorization: ',
          `Authorization: ${asWorker('/v2/e/ping/w1').authorization}`,
          'Transfer-Encoding: chunked',
          'Content-Length: 5',
          'Content-Length: 1000000000',
          'Content-Length: x',
          'Expect: 100-continue',
          'Connection: upgrade\r\nUpgrade: websocket',
          `X: ${'y'.repeat(60_000)}`,
          'A\0: b',
        ),
        word.map((text) => `X-A: ${text.replace(/[\r\n]/g, '')}`),
      )
      const request = fc.tuple(fc.constantFrom('GET', 'POST', 'PUT', 'CONNECT', 'PRI', 'x'), path, fc.array(header, { maxLength: 4 }), word)
      const bytes = fc.oneof(
        {
          weight: 9,
          arbitrary: request.map(
            ([method, target, headers, body]) => `${method} ${target} HTTP/1.1\r\n${['Host: r', ...headers].join('\r\n')}\r\n\r\n${body}`,
          ),
        },
        word,
      )
      const all = sample(bytes, RELAY)
      let done = 0
      const worker = async () => {
        for (let text = all.pop(); text !== undefined; text = all.pop()) {
          await sendRaw(relay.port, text)
          done += 1
        }
      }
      await Promise.all(Array.from({ length: 16 }, worker))
      const ping = await fetch(`http://127.0.0.1:${relay.port}/v2/ep/ping/w1?job_id=`, { headers: asWorker('/v2/ep/ping/w1') })
      expect(ping.status).toBe(200)
      expect(uncaught).toEqual([])
      expect(done).toBe(RELAY)
      await relay.close()
      plane.close()
    },
    SLOW_MS,
  )
})

test('the inputs are ten thousand together', () => {
  expect(DESIRED + ENGINE + RELAY).toBeGreaterThanOrEqual(10_000)
})

async function readAll(call: Promise<unknown>): Promise<void> {
  const stream = await call
  if (typeof stream !== 'object' || stream === null || !(Symbol.asyncIterator in stream)) return
  for await (const _piece of stream as AsyncIterable<Buffer>);
}

/** Sends bytes, and disconnects soon, on any answer. */
function sendRaw(port: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text))
    socket.setTimeout(100, () => socket.destroy())
    socket.on('data', () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}
