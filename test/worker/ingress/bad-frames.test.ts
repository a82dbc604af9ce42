import { encodeFrame, type Frame, MAX_DATA_BYTES, MAX_FRAME_BYTES, type OpenTarget } from '../../../src/host-protocol/tunnel/frames.ts'
import { afterEach, describe, expect, it, send } from '../../support/harness.ts'
import { FakeTunnel, reply, type Serve, type Served } from '../../support/hosts/fake-tunnel.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { until, waitUntil } from '../../support/time.ts'

// Two hosts: the agent of one is forged and sends arbitrary frames on its tunnel.

const VIOLATION = 4003
const HALF = 2 ** 31
/** More than any window, whatever part of it has been read meanwhile. */
const MANY = 64

type Message = Uint8Array | string
/** Frames on a stream that the plane has opened; `others` is an open stream of the other host's tunnel. */
type Bad = (stream: number, others: number, workload: string) => readonly Message[]

const raw = (type: number, stream: number, payload: Uint8Array | string = ''): Uint8Array => {
  const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  const message = new Uint8Array(5 + bytes.length)
  message[0] = type
  new DataView(message.buffer).setUint32(1, stream)
  message.set(bytes, 5)
  return message
}
const frame = (one: Frame): Uint8Array => encodeFrame(one)
const accept = (stream: number, window = 1_000) => frame({ type: 'accept', stream, window })
const head = (stream: number) => frame({ type: 'head', stream, head: { status: 200, headers: [] } })
const data = (stream: number, length = 1) => frame({ type: 'data', stream, bytes: new Uint8Array(length) })
const credit = (stream: number, bytes: number) => frame({ type: 'credit', stream, bytes })
const end = (stream: number) => frame({ type: 'end', stream })
const reset = (stream: number) => frame({ type: 'reset', stream, reason: { code: 'broken', detail: 'forged' } })
const [ACCEPT, HEAD, DATA, CREDIT, END, RESET] = [2, 3, 4, 5, 6, 7]

/** Each of these frames ends the tunnel. */
const ENDING: Readonly<Record<string, Bad>> = {
  'a type of zero': (s) => [raw(0, s)],
  'a type behind the last': (s) => [raw(8, s)],
  'type 255': (s) => [raw(255, s)],
  'a stream that the agent opens': (s, _, workloadId) => {
    const target: OpenTarget = { kind: 'http', workloadId, window: HALF, port: 80, method: 'GET', path: '/', headers: [] }
    return [frame({ type: 'open', stream: s + 1, target })]
  },
  'an open without a target': (s) => [raw(1, s + 1, '{}')],
  'nothing at all': () => [new Uint8Array()],
  'half a prefix': (s) => [raw(END, s).subarray(0, 3)],
  'an acceptance cut short': (s) => [accept(s).subarray(0, 8)],
  'credit cut short': (s) => [accept(s), credit(s, 1).subarray(0, 8)],
  'a head cut short': (s) => [accept(s), head(s).subarray(0, 12)],
  'a reset cut short': (s) => [reset(s).subarray(0, 12)],
  'data of nothing': (s) => [accept(s), head(s), raw(DATA, s)],
  'an end with bytes behind it': (s) => [accept(s), head(s), raw(END, s, 'x')],
  'a head that is no UTF-8': (s) => [accept(s), raw(HEAD, s, new Uint8Array([0xff, 0xfe]))],
  'a head that is no head': (s) => [accept(s), raw(HEAD, s, '[]')],
  'a status that there is not': (s) => [accept(s), raw(HEAD, s, '{"status":1000,"headers":[]}')],
  'a head of 257 headers': (s) => [accept(s), raw(HEAD, s, JSON.stringify({ status: 200, headers: Array(257).fill(['a', 'b']) }))],
  'a reset without a reason': (s) => [raw(RESET, s, '{}')],
  'an acceptance of nothing': (s) => [raw(ACCEPT, s, new Uint8Array(4))],
  'an acceptance of more than any window': (s) => [accept(s, HALF + 1)],
  'a second acceptance': (s) => [accept(s), accept(s)],
  'a head before the acceptance': (s) => [head(s)],
  'a second head': (s) => [accept(s), head(s), head(s)],
  'data before the head': (s) => [accept(s), data(s)],
  'an end before the head': (s) => [accept(s), end(s)],
  'data beyond the window': (s) => [accept(s), head(s), ...Array.from({ length: MANY }, () => data(s, MAX_DATA_BYTES))],
  'credit of nothing': (s) => [accept(s), raw(CREDIT, s, new Uint8Array(4))],
  'credit that overflows at once': (s) => [accept(s), raw(CREDIT, s, new Uint8Array(4).fill(0xff))],
  'credit that overflows in the sum': (s) => [accept(s, HALF), credit(s, HALF), credit(s, 1)],
  'data above its bound': (s) => [accept(s), head(s), raw(DATA, s, new Uint8Array(MAX_DATA_BYTES + 1))],
  'a frame above its bound': (s) => [raw(HEAD, s, new Uint8Array(MAX_FRAME_BYTES))],
  'a frame of 8 MiB': (s) => [raw(DATA, s, new Uint8Array(8 * 2 ** 20))],
  'a text': () => ['hello'],
  'a text of nothing': () => [''],
  'a text in the form of a frame': (s) => [new TextDecoder().decode(end(s))],
}
/** Frames for no stream of this tunnel, which are ignored: such frames also arrive for streams that were just reset. */
const IGNORED: Readonly<Record<string, Bad>> = {
  'the acceptance of a stream of another machine': (_, others) => [accept(others)],
  'the head of a stream of another machine': (_, others) => [head(others)],
  'data of a stream of another machine': (_, others) => [data(others)],
  'credit of a stream of another machine': (_, others) => [credit(others, HALF), credit(others, HALF), credit(others, HALF)],
  'the end of a stream of another machine': (_, others) => [end(others)],
  'the reset of a stream of another machine': (_, others) => [reset(others)],
  'the reset of the last of all streams': () => [reset(2 ** 32 - 1)],
}

const scenes: PodScene[] = []
afterEach(() => {
  for (const scene of scenes.splice(0)) scene.leave()
})

/** A pod that serves a page, on the only host with this GPU type. */
async function openPod(typeId: string): Promise<{ scene: PodScene; page: string; workload: string }> {
  const scene = await podScene(gpus(1, typeId))
  scenes.push(scene)
  const { id } = await scene.create({ gpu: { id: typeId }, ports: ['80/http'] })
  await scene.run(id)
  return { scene, page: `/proxy/${id}/80/`, workload: `${id}-1` }
}

/** Opens a tunnel of the forger with a waiting request, sends `bad` and returns what happens to both. */
async function tryOut(forger: Awaited<ReturnType<typeof openPod>>, bad: Bad, others: number, workload: string) {
  let opened = (_: Served) => {}
  const asked = new Promise<Served>((resolve) => (opened = resolve))
  const tunnel = await FakeTunnel.open(forger.scene.host, (served) => opened(served))
  let closed: number | null = null
  tunnel.socket.addEventListener('close', ({ code }) => {
    closed = code
  })
  const asking = send(forger.page).catch(() => null)
  // The response is read only on demand: a client that reads would open the flow-control window.
  const visit = async () => {
    const answer = await asking
    return answer === null ? 'broken' : `${answer.status} ${await answer.text().catch(() => 'broken')}`
  }
  const served = await asked
  for (const message of bad(served.stream.id, others, workload)) tunnel.socket.send(message)
  return { tunnel, served, visit, isClosed: () => closed !== null, code: () => closed }
}

describe('bad frames of one host', () => {
  it(`[HOST-123] end its own tunnel, ${Object.keys(ENDING).length} of them, or are ignored, ${Object.keys(IGNORED).length} of them; pages of another host are served, and its requests continue`, async () => {
    const [victim, forger] = [await openPod('NVIDIA L40'), await openPod('NVIDIA A40')]
    let finish = () => {}
    const isOver = new Promise<void>((resolve) => (finish = resolve))
    const serve: Serve = async ({ stream, target }) => {
      stream.accept()
      if (target.path.endsWith('/long')) await isOver
      await reply(stream, 200, 'hello')
    }
    const tunnel = await FakeTunnel.open(victim.scene.host, serve)
    let isClosed = false
    tunnel.socket.addEventListener('close', () => {
      isClosed = true
    })
    const page = async (path = '') => {
      const answer = await send(victim.page + path)
      return `${answer.status} ${await answer.text()}`
    }
    for (let visits = 0; visits < 5; visits += 1) expect(await page()).toBe('200 hello')
    const long = page('long')
    await until(() => tunnel.served.length === 6)
    const others = tunnel.served[5]?.stream.id ?? 0

    const codes: Record<string, unknown> = {}
    for (const [name, bad] of Object.entries(ENDING)) {
      const tried = await tryOut(forger, bad, others, victim.workload)
      await waitUntil(`the tunnel ends over ${name}`, tried.isClosed)
      codes[name] = [tried.code(), await page()]
      expect(await tried.visit(), name).toMatch(/^(?:50[23] |200 broken$|broken$)/)
    }
    expect(codes).toEqual(Object.fromEntries(Object.keys(ENDING).map((name) => [name, [VIOLATION, '200 hello']])))

    for (const [name, bad] of Object.entries(IGNORED)) {
      const tried = await tryOut(forger, bad, others, victim.workload)
      tried.served.stream.accept()
      await reply(tried.served.stream, 200, 'of the forger')
      expect([await tried.visit(), tried.code(), await page()], name).toEqual(['200 of the forger', null, '200 hello'])
    }
    expect([isClosed, tunnel.openStreams]).toEqual([false, 1])
    finish()
    expect(await long).toBe('200 hello')
  }, 120_000)

  it('[HOST-123] that arrive after the end of their tunnel do not affect the requests of the next tunnel', async () => {
    const pod = await openPod('NVIDIA RTX A4500')
    const first = await tryOut(pod, (s) => [raw(0, s), ...Array.from({ length: 512 }, () => data(s))], 0, pod.workload)
    await waitUntil('the tunnel ends', first.isClosed)
    const next = await tryOut(pod, () => [], 0, pod.workload)
    next.served.stream.accept()
    await reply(next.served.stream, 200, 'hello')
    expect([await next.visit(), next.code()]).toEqual(['200 hello', null])
  })
})
