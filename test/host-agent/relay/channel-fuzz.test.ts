import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../support/time.ts'
import { channelScene, openChannel, type Scene } from '../support/channel-scene.ts'

// Frames of a plane that makes every mistake: damaged texts, wrong types, unknown and repeated numbers, parts without an end.

const { GENERATED_SEED = '' } = process.env
const SEED = GENERATED_SEED === '' ? Date.now() % 2 ** 31 : Number(GENERATED_SEED)
const MOST_STEPS = 60
/** No further history begins after this time. */
const TIME_MS = 8_000
const LEAST_HISTORIES = 3
const MOST_HISTORIES = 50
const HOLD_MS = 100
/** More than the compiled code and the connections of the test need. */
const MAX_GROWTH_BYTES = 32 * 2 ** 20
const MIB = 2 ** 20

/** Numbers of open calls, of calls that are over, and of none. */
const n = fc.oneof({ weight: 6, arbitrary: fc.nat(40) }, fc.constantFrom(-1, 0.5, 2 ** 31, Number.MAX_SAFE_INTEGER, 1e300))
const text = fc.oneof(
  fc.constantFrom('', '{"id":"forged","input":{}}', '[]', '{', '\ud800', '\0', 'x'.repeat(MIB)),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const status = fc.constantFrom(200, 204, 304, 404, 421, 429, 503, 0, -1, 7, 99, 100, 101, 600, 1_000, 1e9)
const frame = fc.oneof(
  fc.constant({ type: 'sync' }),
  fc.record({ type: fc.constant('part'), n, text }),
  fc.record({ type: fc.constant('job'), n, text }),
  fc.record({ type: fc.constant('stop'), n, jobs: fc.array(fc.constantFrom('j1', '', 'x'.repeat(256)), { maxLength: 4 }) }),
  fc.record(
    { type: fc.constant('nothing'), n, status, detail: text, afterMs: fc.constantFrom(0, 5, -5, 86_400_000, 2 ** 31, 1e15) },
    { requiredKeys: ['type', 'n'] },
  ),
  fc.record({ type: fc.constant('ack'), n, status }),
)
const junk = fc.jsonValue({ maxDepth: 3 })
/** A frame with one member of another type. */
const wrong = fc.tuple(frame, fc.constantFrom('type', 'n', 'text', 'jobs', 'status', 'afterMs'), junk).map(([of, name, value]) => {
  return JSON.stringify({ ...of, [name]: value })
})
const damaged = fc
  .tuple(frame, fc.nat(60), fc.constantFrom('', '"', '}', '\0', '9e9', '[[[['))
  .map(([of, at, end]) => JSON.stringify(of).slice(0, at) + end)
const message = fc.oneof(
  { weight: 12, arbitrary: frame.map((of) => JSON.stringify(of)) },
  { weight: 4, arbitrary: wrong },
  { weight: 2, arbitrary: damaged },
  { weight: 2, arbitrary: junk.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('', 'pong', 'ping', '['.repeat(MIB), `{"type":"part","n":1,"text":"${'y'.repeat(3 * MIB)}"}`) },
)
const step = fc.oneof(
  { weight: 24, arbitrary: fc.record({ kind: fc.constant('text' as const), message, times: fc.constantFrom(1, 1, 1, 2, 20) }) },
  { weight: 2, arbitrary: message.map((of) => ({ kind: 'binary' as const, bytes: Buffer.from(of) })) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ kind: 'binary' as const, bytes })) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'ping' as const }, { kind: 'pong' as const }, { kind: 'wake' as const }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      verb: fc.constantFrom('job-take', 'job-take-batch', 'job-stop', 'ping', 'job-done', 'job-stream'),
      worker: fc.constantFrom('w1', 'w2'),
      leaves: fc.boolean(),
    }),
  },
)
/** Ends the channel, as no frame does. */
const last = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'none' as const }) },
  { weight: 1, arbitrary: fc.constantFrom(1000, 1011, 4000, 4400, 4999).map((code) => ({ kind: 'close' as const, code })) },
  // Reserved bits are set: else the bytes may begin a long message, whose end the agent awaits until the plane is silent for too long.
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ kind: 'bytes' as const, bytes: [0xf1, 0, ...bytes] })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'huge' as const }) },
)
const history = fc.record({ steps: fc.array(step, { minLength: MOST_STEPS / 2, maxLength: MOST_STEPS }), last })
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type Last = typeof last extends fc.Arbitrary<infer S> ? S : never

/** Calls of workers, begun in the middle of the plane's frames; each of them ends. */
class Calls {
  private readonly scene: Scene
  private readonly open: Promise<unknown>[] = []

  constructor(scene: Scene) {
    this.scene = scene
  }

  begin({ verb, worker, leaves }: Extract<Step, { kind: 'call' }>): void {
    const isPost = verb === 'job-done' || verb === 'job-stream'
    const path = `${verb}/${worker}${isPost ? `/j${this.open.length}` : ''}?boot=b1&job_in_progress=0`
    const gone = new AbortController()
    const init = isPost ? { method: 'POST', body: '{"output":1}' } : {}
    this.open.push(this.scene.call(path, { ...init, signal: gone.signal }).then((reply) => reply.text(), String))
    if (leaves) setTimeout(() => gone.abort(), HOLD_MS / 4)
  }

  async ended(): Promise<void> {
    await Promise.all(this.open)
  }
}

function apply(of: Step, { plane }: Scene, calls: Calls): void {
  if (of.kind === 'text') for (let count = 0; count < of.times; count += 1) plane.sayRaw(of.message)
  else if (of.kind === 'binary') plane.sayRaw(of.bytes)
  else if (of.kind === 'call') calls.begin(of)
  else if (of.kind === 'wake') plane.wake()
  else for (const socket of plane.sockets) socket[of.kind]('x')
}

function end(of: Last, { plane }: Scene): void {
  if (of.kind === 'close') for (const socket of plane.sockets) socket.close(of.code, 'over')
  if (of.kind === 'bytes') for (const stream of plane.streams) stream.write(Uint8Array.from(of.bytes))
  if (of.kind === 'huge') plane.sayRaw('x'.repeat(5 * MIB))
}

/** The agent has read all messages. */
async function isHeard({ plane }: Scene): Promise<void> {
  for (const socket of plane.sockets) {
    let isRead = false
    socket.once('pong', () => (isRead = true))
    socket.ping()
    await until(() => isRead || socket.readyState === socket.CLOSED)
  }
}

describe('a plane that makes every mistake', () => {
  const uncaught: unknown[] = []
  const onUncaught = (error: unknown) => void uncaught.push(error)
  beforeEach(() => {
    uncaught.length = 0
    process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught)
  })
  afterEach(() => {
    process.off('uncaughtException', onUncaught).off('unhandledRejection', onUncaught)
  })

  test(`[CHN-25, CHN-28] ends no agent, keeps no worker from its jobs and fills no memory (seed ${SEED})`, async () => {
    const histories = fc.sample(history, { numRuns: MOST_HISTORIES, seed: SEED })
    const heapBytes = collector()
    const before = heapBytes()
    const started = performance.now()
    for (const [index, { steps, last: ending }] of histories.entries()) {
      if (index >= LEAST_HISTORIES && performance.now() - started > TIME_MS) break
      const scene = await channelScene({ pollHoldMs: HOLD_MS, postIdleMs: HOLD_MS })
      await openChannel(scene)
      const calls = new Calls(scene)
      for (const [at, one] of steps.entries()) {
        apply(one, scene, calls)
        if (at % 6 === 5) await isHeard(scene)
      }
      end(ending, scene)
      await calls.ended()
      await isHeard(scene)
      // The plane has not noticed which calls its frames have ended.
      scene.plane.wake()
      const job = `ordinary-${index}`
      scene.plane.submit(job)
      expect(await scene.takeJob()).toBe(job)
      expect((await scene.call(`job-done/w1/${job}?boot=b1`, { method: 'POST', body: '{"output":2}' })).status).toBe(200)
      expect(scene.plane.applied.filter((post) => post.job === job)).toMatchObject([{ body: '{"output":2}' }])
      expect(uncaught).toEqual([])
      expect(heapBytes() - before).toBeLessThan(MAX_GROWTH_BYTES)
      await scene.close()
    }
  })
})

/** Returns the bytes of the heap that are in use, after a collection. */
function collector(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    return process.memoryUsage().heapUsed
  }
}
