import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectDocker } from '../../../src/host-agent/docker/engine/client.ts'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { type EngineAnswer, FakeEngine, sendJson, sendZeros } from '../support/fake-engine.ts'
import { tempDir } from '../support/temp-dir.ts'

const LARGE_BYTES = 64 * 2 ** 20
const signal = new AbortController().signal
const EMPTY = { config: '', layers: [], tag: 'podplane-pulled:t' }
const disk = { repository: 'podplane-disk', tag: 't', label: 'a=b' }

/** Every call that the agent makes of its engine. A stream is read to its end. */
const CALLS: Record<string, (engine: DockerEngine, image: string) => Promise<unknown>> = {
  info: (engine) => engine.info(),
  imageFacts: (engine, image) => engine.imageFacts(image),
  load: (engine) => engine.load(EMPTY, signal),
  create: (engine, image) => engine.create('c', { Image: image }),
  start: (engine) => engine.start('c'),
  inspect: (engine) => engine.inspect('c'),
  wait: (engine) => engine.wait('c'),
  stop: (engine) => engine.stop('c', 1),
  remove: (engine) => engine.remove('c'),
  list: (engine) => engine.list('a=b'),
  readLogs: (engine) => engine.readLogs('c', 10),
  followLogs: async (engine) => {
    for await (const _piece of await engine.followLogs('c', 0, signal));
  },
  usage: (engine) => engine.usage('c'),
  commit: (engine) => engine.commit('c', disk),
  countLayers: (engine) => engine.countLayers('c'),
  flatten: (engine) => engine.flatten('c', disk),
  listImages: (engine) => engine.listImages('a=b'),
  listUses: (engine) => engine.listUses('a=b'),
  listTags: (engine) => engine.listTags('a'),
  removeImage: (engine, image) => engine.removeImage(image),
  bridge: (engine) => engine.bridge(),
}

const LOCATIONS = ['/images/a/json', 'http:/v1.41/a', '//x', '', 'nosuch:thing', 'unix:///etc/passwd', 'http://%']

function redirect(status: number, location: string): readonly [string, EngineAnswer] {
  return [`${status} to ${location}`, (_path, _request, response) => response.writeHead(status, { location }).end()]
}

/** Answers that no correct engine gives. */
const ODD: readonly (readonly [string, EngineAnswer])[] = [
  ...LOCATIONS.flatMap((location) => [301, 302, 307, 399].map((status) => redirect(status, location))),
  ['no JSON', (_path, _request, response) => response.end('{"a')],
  ['null', (_path, _request, response) => sendJson(response, null)],
  ['a number', (_path, _request, response) => sendJson(response, 7)],
  ['nothing', (_path, _request, response) => response.end()],
  ['a refusal without words', (_path, _request, response) => response.writeHead(500).end()],
  ['a refusal that is null', (_path, _request, response) => sendJson(response, null, 500)],
  ['an odd message', (_path, _request, response) => sendJson(response, { message: { a: [1] } }, 409)],
  ['a cut', (_path, _request, response) => void response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy())],
  [
    'a cut refusal',
    (_path, _request, response) => void response.writeHead(500, { 'content-length': 9 }).write('{', () => response.destroy()),
  ],
  ['no answer', (_path, request) => request.socket.destroy()],
]

describe('[HOST-66] calls to the engine', () => {
  let fake: FakeEngine
  let engine: DockerEngine
  const uncaught: unknown[] = []
  const onUncaught = (error: unknown) => uncaught.push(error)

  beforeEach(async () => {
    fake = new FakeEngine(tempDir('engine'), (_path, _request, response) => sendJson(response, {}))
    vi.stubEnv('DOCKER_HOST', fake.address)
    engine = await connectDocker()
    uncaught.length = 0
    process.on('uncaughtException', onUncaught)
    process.on('unhandledRejection', onUncaught)
  })
  afterEach(() => {
    process.off('uncaughtException', onUncaught)
    process.off('unhandledRejection', onUncaught)
    vi.unstubAllEnvs()
    fake.close()
  })

  const outcome = (call: Promise<unknown>) =>
    call.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )

  test('settle on any answer, without an uncaught error', async () => {
    const image = fc.oneof(
      fc.string(),
      fc.constantFrom('nginx', 'a/../../b', 'https://docker.io/library/nginx', 'get?names=x:1&x=', '', '..'),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(CALLS)), fc.constantFrom(...ODD), image, async (name, [, answer], text) => {
        fake.answer = answer
        await outcome(CALLS[name]?.(engine, text) ?? Promise.reject(new Error('no such call')))
        await promisify(setImmediate)()
        expect(uncaught).toEqual([])
      }),
      // An interrupted run passes after one success, so that a slow machine does not fail. A call that never settles must fail.
      { numRuns: 400, interruptAfterTimeLimit: 15_000, timeout: 5_000 },
    )
  })

  test.each(LOCATIONS)('follow no redirect to %j', async (location) => {
    for (const [name, call] of Object.entries(CALLS)) {
      fake.calls.length = 0
      fake.answer = (_path, _request, response) => response.writeHead(301, { location }).end()
      await expect(call(engine, 'nginx'), name).rejects.toThrow('the engine redirects this call, which is refused')
      // A container that cannot be inspected is still removed.
      expect(fake.calls, name).toHaveLength(name === 'remove' ? 2 : 1)
    }
    expect(uncaught).toEqual([])
  })

  test('do not contact the machine that a redirect names', async () => {
    let visits = 0
    const other = createServer((_request, response) => {
      visits += 1
      response.end('{}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
    fake.answer = (_path, _request, response) => response.writeHead(301, { location }).end()
    await expect(engine.imageFacts('nginx')).rejects.toThrow('refused')
    other.close()
    expect(visits).toBe(0)
  })

  test('read an answer up to a bound', async () => {
    for (const name of ['imageFacts', 'inspect', 'list', 'readLogs', 'usage', 'listImages', 'listTags', 'listUses', 'bridge']) {
      fake.answer = (_path, _request, response) => sendZeros(response, LARGE_BYTES)
      await expect(CALLS[name]?.(engine, 'nginx'), name).rejects.toThrow("the engine's answer is longer than 32 MiB")
    }
    fake.answer = (_path, _request, response) => sendZeros(response, LARGE_BYTES, 500)
    const refused = await outcome(engine.imageFacts('nginx'))
    expect(String((refused as { error: Error }).error.message).length).toBeLessThan(70_000)
    fake.answer = (_path, _request, response) => sendZeros(response, LARGE_BYTES)
    await expect(engine.load(EMPTY, signal)).rejects.toThrow("a line of the engine's progress is too long")
  })

  test('[HOST-108] read the list of all containers in parts, so that long commands do not exceed the size limit of an answer', async () => {
    const ids = Array.from({ length: 70 }, (_, index) => `c${index}`)
    const Command = '<'.repeat(100_000).replaceAll('<', String.raw`\u003c`)
    let largest = 0
    fake.answer = (path, _request, response) => {
      const query = new URL(path, 'http://engine').searchParams
      const { before = [], label } = JSON.parse(query.get('filters') ?? '{}')
      expect(label).toEqual(['a=b'])
      const start = before.length === 0 ? 0 : ids.indexOf(before[0]) + 1
      const part = ids.slice(start, start + (Number(query.get('limit')) || ids.length))
      const text = JSON.stringify(
        part.map((Id) => ({ Id, Names: [`/${Id}`], Labels: { 'podplane.workload': Id }, State: 'running', Command })),
      )
      largest = Math.max(largest, text.length)
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    }
    expect((await engine.list('a=b')).map(({ name }) => name)).toEqual(ids)
    expect(largest).toBeLessThan(32 * 2 ** 20)
  })

  test('return the outcome of a load as the engine reports it', async () => {
    const load = (...lines: string[]) => {
      fake.answer = (_path, _request, response) => response.end(lines.join(''))
      return engine.load(EMPTY, signal)
    }
    await expect(load('{"status":"Loading"}\r\n', '\n', '{"status":"done"}')).resolves.toBeUndefined()
    await expect(load('{"status":"Loading"}\n', '{"error":"no space left"}\n', '{"error":"later"}')).rejects.toThrow('no space left')
    await expect(load('<html>\n')).rejects.toThrow("the engine's progress cannot be read")
    fake.answer = (_path, _request, response) => void response.writeHead(200).write('{"status":"P"}\n', () => response.destroy())
    await expect(engine.load(EMPTY, signal)).rejects.toThrow()
  })
})
