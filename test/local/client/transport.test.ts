import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError, ConnectionError, connect } from '../../../src/client/client.ts'
import { type Answer, FakePlane } from './fake-plane.ts'

const planes: FakePlane[] = []
afterEach(() => void vi.restoreAllMocks())
afterEach(() => Promise.all(planes.splice(0).map((plane) => plane.close())))

/** A plane that gives these answers in turn, and its client; the client's pauses are noted instead of made. */
async function planeWith(...answers: Answer[]) {
  const plane = await FakePlane.open(answers)
  planes.push(plane)
  const pauses: number[] = []
  const client = connect({ url: plane.url, credentials: { key: 'pp_secret' }, pause: async (ms) => void pauses.push(ms) })
  return { plane, client, pauses }
}

const POD = { name: 'p', image: 'busybox', cpu: { id: 'cpu3c', vcpuCount: 2 } }

describe('a create', () => {
  it('[IDEM-2] is sent again under the same key when its answer is lost', async () => {
    const { plane, client } = await planeWith('hang up', 'hang up', { status: 201, body: { id: 'p1' } })
    expect(await client.createPod({ body: POD })).toMatchObject({ id: 'p1' })
    const keys = plane.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('[IDEM-2] with a key of the caller uses that, and two creates have two keys', async () => {
    const created = { status: 201, body: { id: 'p1' } }
    const { plane, client } = await planeWith(created, created, created)
    await client.createPod({ body: POD }, { idempotencyKey: 'mine' })
    await client.createPod({ body: POD })
    await client.createPod({ body: POD })
    const [mine, second, third] = plane.requests.map(({ headers }) => headers['idempotency-key'])
    expect(mine).toBe('mine')
    expect(second).not.toBe(third)
  })
})

describe('a request that may not be repeated', () => {
  it('is sent once when no answer comes', async () => {
    const { plane, client } = await planeWith('hang up', { status: 200, body: {} })
    await expect(client.actOnPod({ path: { id: 'p1' }, body: { action: 'restart' } })).rejects.toThrow(ConnectionError)
    expect(plane.requests).toHaveLength(1)
  })

  it('is sent again when a limit turned it away, after the time that the plane says', async () => {
    const { plane, client, pauses } = await planeWith({ status: 429, headers: { 'retry-after': '7' } }, { status: 200, body: { id: 'p1' } })
    await client.actOnPod({ path: { id: 'p1' }, body: { action: 'restart' } })
    expect(plane.requests).toHaveLength(2)
    expect(pauses).toEqual([7_000])
  })

  it('does not wait for minutes at a limit: its caller gets the time', async () => {
    const { plane, client } = await planeWith({ status: 429, headers: { 'retry-after': '600' } })
    const refused = await client.listPods().catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 429, retryable: true, retryAfterMs: 600_000 })
    expect(plane.requests).toHaveLength(1)
  })
})

describe('a read', () => {
  it('is sent again when its answer is cut off; a request that may not be repeated has no answer', async () => {
    const half = { status: 200, headers: { 'content-length': '99' }, text: '{"pods":', breaks: true }
    const read = await planeWith(half, { status: 200, body: { pods: [] } })
    expect(await read.client.listPods()).toEqual({ pods: [] })
    expect(read.plane.requests).toHaveLength(2)
    const act = await planeWith(half, { status: 200, body: {} })
    await expect(act.client.actOnPod({ path: { id: 'p1' }, body: { action: 'restart' } })).rejects.toThrow(ConnectionError)
    expect(act.plane.requests).toHaveLength(1)
  })

  it('is tried four times while the plane is away, and then fails with that message', async () => {
    const away = { status: 503, body: { detail: 'the plane is being set up' } }
    const { plane, client, pauses } = await planeWith(away, away, away, away, { status: 200, body: { pods: [] } })
    await expect(client.listPods()).rejects.toThrow('GET /v2/pods: 503 the plane is being set up')
    expect(plane.requests).toHaveLength(4)
    expect(pauses.map((ms) => Math.ceil(Math.log2(ms / 125)))).toEqual([1, 2, 3])
  })

  it('[CMD-53] is not tried again after a long wait', async () => {
    const plane = await FakePlane.open(['hang up', 'hang up', 'hang up', { status: 200, body: { pods: [] } }])
    planes.push(plane)
    let nowMs = 0
    vi.spyOn(Date, 'now').mockImplementation(() => nowMs)
    const pause = async () => {
      nowMs += 25_000
    }
    await expect(connect({ url: plane.url, credentials: { key: 'k' }, pause }).listPods()).rejects.toThrow(ConnectionError)
    expect(plane.requests).toHaveLength(3)
  })

  it('is not repeated when it is refused', async () => {
    const body = { title: 'Unprocessable', detail: 'input is wrong', code: 'validation', errors: ['$.limit: too large', '$.x: unknown'] }
    const { plane, client } = await planeWith({ status: 422, headers: { 'x-request-id': 'r-1' }, body })
    const refused = await client.listPods({ query: { limit: 100_000 } }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({ status: 422, code: 'validation', retryable: false, requestId: 'r-1', errors: body.errors })
    expect((refused as Error).message).toBe('GET /v2/pods?limit=100000: 422 input is wrong: $.limit: too large; $.x: unknown')
    expect(plane.requests).toHaveLength(1)
  })

  it('ends with its signal, in a pause too', async () => {
    const plane = await FakePlane.open([{ status: 429, headers: { 'retry-after': '20' } }])
    planes.push(plane)
    const stop = new AbortController()
    const client = connect({ url: plane.url, credentials: { key: 'k' } })
    const reading = client.listPods({}, { signal: stop.signal })
    await plane.heard(1)
    stop.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })

  it('names the parameters of its path and query as they are', async () => {
    const { plane, client } = await planeWith({ status: 200, body: {} })
    await client.getCpuType({ path: { id: 'a/b c' }, query: { include: ['X', 'Y'], limit: undefined } })
    expect(plane.requests[0]?.url).toBe('/v2/catalog/cpus/a%2Fb%20c?include=X&include=Y')
  })

  it('shows the beginning of an answer that is no JSON, and an empty answer is undefined', async () => {
    const { client } = await planeWith({ status: 404, text: '<html>not here' }, { status: 204 })
    await expect(client.getPod({ path: { id: 'p' } })).rejects.toThrow('GET /v2/pods/p: 404 <html>not here')
    expect(await client.deletePod({ path: { id: 'p' } })).toBeUndefined()
  })
})

describe('the key', () => {
  it('is sent to the plane alone, neither along a redirect nor in an error', async () => {
    const other = await FakePlane.open([{ status: 200, body: {} }])
    planes.push(other)
    const { plane, client } = await planeWith({ status: 302, headers: { location: `${other.url}/v2/pods` } }, 'hang up')
    const refused = await client.actOnPod({ path: { id: 'p' }, body: { action: 'stop' } }).catch((error: unknown) => error)
    expect(plane.requests[0]?.headers.authorization).toBe('Bearer pp_secret')
    expect(other.requests).toEqual([])
    expect(JSON.stringify([String(refused), (refused as Error).stack])).not.toContain('pp_secret')
  })
})
