import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchContainer } from '../../../src/host-agent/docker/container/container-watch.ts'
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/host-agent/docker/runtime.ts'
import { EngineClient } from '../../../src/host-agent/engine/engine-client.ts'
import { ignoring } from '../../../src/host-agent/engine/engine-errors.ts'
import { HOST_LABEL } from '../../../src/host-agent/engine/labels.ts'
import { createLog, silentLog } from '../../../src/host-agent/log.ts'
import { realTime, until, waitUntil } from '../../support/time.ts'
import { FakeEngine, sendJson, sendZeros } from '../support/fake-engine.ts'
import { tempDir } from '../support/temp-dir.ts'

const COMMAND = [process.execPath, join(import.meta.dirname, '../../../src/host-agent/main.ts')] as const
const ENDED = 'the engine client ended; it is started again'
const IMAGE = { config: 'e30=', layers: [], tag: 'a:1' }
const never = new AbortController().signal
/** After the boot of the machine: an older container ended with the boot (LSE-21). */
const STARTED_AT = new Date().toISOString()

/** A container as the engine describes it. */
function container(status: string, finishedAt = '0001-01-01T00:00:00Z') {
  const State = { Status: status, ExitCode: 0, OOMKilled: false, StartedAt: STARTED_AT, FinishedAt: finishedAt }
  return { Name: '/c', Config: { Labels: { [HOST_LABEL]: 'h' } }, State, Mounts: [], NetworkSettings: { Networks: {} } }
}

const FACTS = {
  name: 'c',
  labels: { [HOST_LABEL]: 'h' },
  status: 'running',
  exitCode: 0,
  outOfMemory: false,
  startedAtMs: Date.parse(STARTED_AT),
  endedAtMs: null,
  addresses: [],
  anonymousVolumes: [],
  pid: null,
  hostsPath: null,
}

// The process is started and killed many times, which is slow on a busy machine.
describe('[HOST-70] the process that calls the engine', { timeout: 120_000 }, () => {
  let fake: FakeEngine
  let client: EngineClient
  const said: string[] = []

  beforeEach(() => {
    fake = new FakeEngine(tempDir('engine'), (_path, _request, response) => sendJson(response, container('running')))
    vi.stubEnv('DOCKER_HOST', fake.address)
    vi.stubEnv('PODPLANE_JOIN_TOKEN', 'ppj_secret')
    said.length = 0
    client = new EngineClient({ command: COMMAND, log: createLog('info', (line) => said.push(line)) })
  })
  afterEach(() => {
    client.close()
    vi.unstubAllEnvs()
    fake.close()
  })

  const answersTo = (part: string) => fake.calls.filter((call) => call.includes(part)).length
  const kill = () => process.kill(client.pid ?? 0, 'SIGKILL')

  test('passes on answers, refusals and bytes', async () => {
    expect(await client.engine.inspect('c')).toEqual(FACTS)
    fake.answer = (_path, _request, response) => sendJson(response, { message: 'no such container: c' }, 404)
    expect(await client.engine.inspect('c')).toBeUndefined()
    await expect(client.engine.start('c')).rejects.toThrow(/^no such container: c$/)
    await ignoring([404], client.engine.start('c'))
    fake.answer = (_path, _request, response) => response.writeHead(204).end()
    expect([await client.engine.start('c'), await client.engine.stop('c', 1)]).toEqual([undefined, undefined])
    fake.answer = (_path, _request, response) => response.end(Buffer.from([1, 0, 0, 0, 0, 0, 0, 1, 255]))
    expect(await client.engine.readLogs('c', 5)).toEqual(Buffer.from([1, 0, 0, 0, 0, 0, 0, 1, 255]))
    fake.answer = (_path, _request, response) => response.end('{"error":"no space left"}')
    await expect(client.engine.load(IMAGE, never)).rejects.toThrow('no space left')
    expect(said).toEqual([])
  })

  test('[HOST-70, HOST-130] passes bytes both ways, with back pressure, until either end closes', async () => {
    fake.answer = (path, _request, response) => sendJson(response, path.startsWith('/containers') ? { Id: 'e1' } : {}, 201)
    expect(await client.engine.createExec('c', { command: ['sh'], env: [], tty: false })).toBe('e1')
    let taken = 0
    fake.upgrade = (socket) => {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst')
      socket.on('data', (data: Buffer) => {
        taken += data.length
      })
      socket.on('end', () => socket.end(`took ${taken}`))
    }
    const stream = await client.engine.startExec('e1', false)
    for (let i = 0; i < 8; i += 1) await stream.write(Buffer.alloc(2 ** 18))
    stream.endInput()
    const pieces: Buffer[] = []
    for await (const piece of stream.output) pieces.push(piece)
    expect(Buffer.concat(pieces).toString()).toBe(`firsttook ${2 ** 21}`)
    await expect(stream.write(Buffer.from('late'))).rejects.toThrow('takes no more')
  })

  test('[HOST-130] reports why a command cannot begin', async () => {
    fake.answer = (_path, _request, response) => sendJson(response, { message: 'container c is not running' }, 409)
    await expect(client.engine.startExec('e1', true)).rejects.toThrow('container c is not running')
  })

  test('gets only the environment variables that it needs', async () => {
    await client.engine.inspect('c')
    const env = readFileSync(`/proc/${client.pid}/environ`, 'utf8')
    expect(env).toContain('DOCKER_HOST=')
    expect(env).not.toContain('PODPLANE')
  })

  test('ends, and the next call starts another; pending calls fail or are repeated', async () => {
    fake.answer = (path, _request, response) => {
      if (path.includes('/json') && answersTo('/json') > 1) sendJson(response, container('running'))
    }
    const waiting = client.engine.wait('c')
    const creating = client.engine.create('c', { Image: 'a' })
    const looking = client.engine.inspect('c')
    for (const part of ['/wait', '/create', '/json']) await until(() => answersTo(part) === 1)
    const before = client.pid
    kill()
    await expect(waiting).rejects.toThrow(ENDED)
    await expect(creating).rejects.toThrow(ENDED)
    expect(await looking).toEqual(FACTS)
    expect(client.pid).not.toBe(before)
    expect([answersTo('/create'), answersTo('/json')]).toEqual([1, 2])
    expect(said.map((line) => JSON.parse(line))).toMatchObject([{ level: 'error', msg: ENDED, reason: 'killed by signal SIGKILL' }])
  })

  test('is called a second time and not a third', async () => {
    fake.answer = () => kill()
    await expect(client.engine.inspect('c')).rejects.toThrow(ENDED)
    expect(answersTo('/json')).toBe(2)
  })

  test('output resumes at its position, no line twice', async () => {
    const line = (second: number) => {
      const payload = Buffer.from(`2026-06-01T12:00:${String(second).padStart(2, '0')}.000000001Z line ${second}\n`)
      const header = Buffer.alloc(8)
      header[0] = 1
      header.writeUInt32BE(payload.length, 4)
      return Buffer.concat([header, payload])
    }
    fake.answer = (path, _request, response) => {
      if (!path.includes('/logs')) return sendJson(response, container(answersTo('/logs') > 1 ? 'exited' : 'running'))
      response.write(Buffer.concat([line(1), line(2)]))
      if (answersTo('/logs') > 1) response.end(Buffer.concat([line(3), line(4)]))
    }
    const images = { allowed: new Map() }
    const options = { engine: client.engine, hostId: 'h', stateDir: tempDir('follow'), images, log: silentLog() }
    const runtime = new DockerRuntime(options as unknown as DockerRuntimeOptions)
    const lines: string[] = []
    let position: unknown
    const follow = () =>
      runtime.followOutput(
        'c',
        position,
        (chunk) => {
          position = chunk.position
          lines.push(...chunk.lines.map((one) => one.line))
        },
        never,
      )
    const first = follow()
    await until(() => lines.length === 2)
    kill()
    await expect(first).rejects.toThrow(ENDED)
    await follow()
    expect(lines).toEqual(['line 1', 'line 2', 'line 3', 'line 4'])
  })

  test('sends no more of a stream than is read', async () => {
    const size = 16 * 2 ** 20
    let sent = 0
    fake.answer = (_path, _request, response) => {
      const more = () => {
        while (sent < size && !response.destroyed) {
          sent += 2 ** 16
          if (!response.write(Buffer.alloc(2 ** 16, 1))) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    let bytes = 0
    for await (const piece of await client.engine.followLogs('c', 0, never)) {
      bytes += piece.length
      if (bytes === piece.length) {
        // Until no more bytes arrive: the pipes are full.
        for (let before = -1; before !== sent; ) {
          before = sent
          await realTime(200, 'that nothing comes any more shows by waiting')
        }
        expect(sent).toBeLessThan(4 * 2 ** 20)
      }
    }
    expect(bytes).toBe(size)
  })

  test('a stream that the reader disconnected, or that is given up, ends at the engine', async () => {
    let closed = 0
    fake.answer = (_path, _request, response) => {
      response.on('close', () => {
        closed += 1
      })
      response.write('x')
    }
    for await (const _piece of await client.engine.followLogs('c', 0, never)) break
    await until(() => closed === 1)
    const stop = new AbortController()
    const load = client.engine.load(IMAGE, stop.signal)
    const stream = await client.engine.followLogs('c', 0, stop.signal)
    await until(() => answersTo('/images/load') === 1)
    stop.abort(new Error('not wanted any more'))
    await expect(load).rejects.toThrow('not wanted any more')
    await expect(readAll(stream)).rejects.toThrow('not wanted any more')
    await until(() => closed === 3)
  })

  test('does not block other calls while containers take long to end', async () => {
    const slow: (() => void)[] = []
    fake.answer = (path, request, response) => {
      const isEnd = path.includes('/stop') || request.method === 'DELETE'
      if (isEnd) slow.push(() => response.writeHead(204).end())
      else if (request.method === 'POST') response.writeHead(204).end()
      else sendJson(response, container('running'))
    }
    const ends = Array.from({ length: 80 }, (_, index) => client.engine[index % 2 === 0 ? 'stop' : 'remove'](`c${index}`, 30))
    await until(() => slow.length === 40 + 32)
    expect(await client.engine.inspect('other')).toEqual(FACTS)
    await client.engine.start('other')
    fake.answer = (_path, _request, response) => void response.writeHead(204).end()
    for (const answer of slow) answer()
    await Promise.all(ends)
  })

  test('has a bounded number of calls under way', async () => {
    const open: (() => void)[] = []
    fake.answer = (_path, _request, response) => void open.push(() => sendJson(response, container('running')))
    const calls = Array.from({ length: 40 }, () => client.engine.inspect('c'))
    await until(() => open.length === 32)
    // A long call does not wait for them; when it arrives, more of the others would have arrived too.
    const waiting = client.engine.wait('c')
    await until(() => answersTo('/wait') === 1)
    expect(answersTo('/json')).toBe(32)
    open.shift()?.()
    await until(() => answersTo('/json') === 33)
    fake.answer = (_path, _request, response) => sendJson(response, container('running'))
    for (const answer of open) answer()
    expect(await Promise.all(calls)).toHaveLength(40)
    await waiting
  })

  test('an answer of another kind than requested is an error, and so is one that is too long', async () => {
    fake.answer = (_path, _request, response) =>
      sendJson(response, { ...container('running'), State: { ...container('running').State, ExitCode: 'x' } })
    await expect(client.engine.inspect('c')).rejects.toThrow('the engine sent an unexpected response')
    fake.answer = (_path, _request, response) => sendZeros(response, 16 * 2 ** 20)
    await expect(client.engine.readLogs('c', 5)).rejects.toThrow('what the engine client has to say is longer than 8 MiB')
    expect(said).toEqual([])
  })

  test('does not count as a restart of the engine when it ends', async () => {
    fake.answer = (path, _request, response) => {
      if (path.includes('/wait') && answersTo('/wait') === 1) return
      if (path.includes('/logs')) return void response.end()
      sendJson(response, container('exited', new Date().toISOString()))
    }
    const away: string[] = []
    const exit = watchContainer({
      engine: client.engine,
      name: 'c',
      inspect: () => client.engine.inspect('c'),
      list: async () => undefined,
      onAway: (why) => away.push(why),
    })
    await until(() => answersTo('/wait') === 1)
    kill()
    expect(await exit).toMatchObject({ exitCode: 0, reason: 'exited with code 0' })
    expect(away).toEqual([ENDED])
  })

  test('is started again with growing pauses when it cannot start', async () => {
    const broken = new EngineClient({ command: ['/nonexistent/node'], log: createLog('info', (line) => said.push(line)) })
    for (let tries = 0; tries < 3; tries += 1) await expect(broken.engine.inspect('c')).rejects.toThrow(ENDED)
    broken.close()
    const waits = said.map((line) => JSON.parse(line).waitMs)
    expect(waits).toHaveLength(6)
    expect(waits.at(-1)).toBeGreaterThan(waits[0] * 4)
    expect(said[0]).toContain('could not be started')
  })

  test('ends with its agent', async () => {
    await client.engine.inspect('c')
    const { pid = 0 } = client
    client.close()
    await waitUntil('the end of the process', () => !isAlive(pid))
    await expect(client.engine.inspect('c')).rejects.toThrow(ENDED)
  })
})

async function readAll(stream: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of stream);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
