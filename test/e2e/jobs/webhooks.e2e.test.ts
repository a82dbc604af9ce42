import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TestEndpoint } from '../support/plane/endpoint.ts'
import { callPlane, eventually, startPlane, type TestPlane } from '../support/plane/plane.ts'

// Webhooks over real HTTP: a plane as `npm start` runs it, and a receiver on the same machine.

interface Received {
  atMs: number
  path: string
  body: string
  headers: IncomingHttpHeaders
}
interface Delivery {
  id: string
  jobId: string
  status: string
  attempts: { status?: number; error?: string }[]
}

/** First try, 10 s, second, 10 s, third, and room for a busy machine. */
const THREE_ATTEMPTS_MS = 45_000

let plane: TestPlane
let endpoint: TestEndpoint
let receiver: Server
let base: string
let received: Received[]
let failuresLeft = 0

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      received.push({ atMs: Date.now(), path: request.url ?? '', body: Buffer.concat(pieces).toString(), headers: request.headers })
      const fails = request.url === '/failing' && failuresLeft-- > 0
      response.writeHead(fails ? 500 : 200).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  plane = await startPlane()
  endpoint = new TestEndpoint(plane, plane.endpointId)
})
afterAll(async () => {
  await plane?.stop()
  receiver?.close()
})
beforeEach(() => {
  received = []
})

describe('a job that names a webhook', () => {
  test('HOOK-1, HOOK-2, HOOK-8: its end is sent once, signed', async () => {
    const job = await submit(`${base}/hook?token=1`, { text: 'grüße 🌍' })
    const view = await endpoint.finished(job)
    const [first] = await eventually('the webhook arrives', 20_000, async () => received.length > 0 && received)
    expect(JSON.parse(first?.body ?? '')).toEqual({ ...view, input: { text: 'grüße 🌍' }, webhook: `${base}/hook?token=1` })
    expect(first?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'podplane-webhook/1' })
    const { secret } = await callPlane<{ secret: string }>(plane, plane.apiKey, 'GET', '/v2/webhooks/signing-secret')
    expect(new Webhook(secret).verify(first?.body ?? '', headersOf(first))).toMatchObject({ id: job, status: 'COMPLETED' })
    await delivered(job)
    expect(received).toHaveLength(1)
  })

  test('HOOK-4, HOOK-6: a receiver that fails the first time gets the same request again, 10 s apart', async () => {
    failuresLeft = 2
    const job = await submit(`${base}/failing`, {})
    await endpoint.finished(job)
    const delivery = await delivered(job)
    expect(delivery.attempts.map(({ status }) => status)).toEqual([500, 500, 200])
    expect(received).toHaveLength(3)
    expect(new Set(received.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
    const gapsMs = received.slice(1).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? 0))
    for (const gapMs of gapsMs) expect(gapMs).toBeGreaterThanOrEqual(9_900)
  })

  test('HOOK-5: without a listening receiver the job stays unchanged, and the log shows the reason', async () => {
    const job = await submit('http://localhost:1/nobody', {})
    expect((await endpoint.finished(job)).status).toBe('COMPLETED')
    const tried = await eventually('an attempt is in the log', 20_000, async () => {
      const found = await deliveryOf(job)
      return found !== undefined && found.attempts.length > 0 && found
    })
    expect(tried.attempts[0]).toMatchObject({ error: 'the connection was refused' })
  })

  test('HOOK-3: a plane that is killed after the job sends the webhook after its restart', async () => {
    failuresLeft = 1
    const job = await submit(`${base}/failing`, {})
    await endpoint.finished(job)
    await eventually('the first attempt failed', 20_000, async () => received.length === 1)
    await plane.kill('SIGKILL')
    plane = await plane.restart()
    endpoint = new TestEndpoint(plane, plane.endpointId)
    await delivered(job)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(received.length).toBeGreaterThanOrEqual(2)
    expect((await endpoint.status(job)).status).toBe('COMPLETED')
  })
})

async function submit(webhook: string, input: Record<string, unknown>): Promise<string> {
  const { id } = await callPlane<{ id: string }>(plane, plane.apiKey, 'POST', `/v2/${plane.endpointId}/run`, { input, webhook })
  return id
}

async function deliveryOf(jobId: string): Promise<Delivery | undefined> {
  const path = `/v2/webhooks/deliveries?jobId=${jobId}`
  return (await callPlane<{ deliveries: Delivery[] }>(plane, plane.apiKey, 'GET', path)).deliveries[0]
}

function delivered(jobId: string): Promise<Delivery> {
  return eventually('the delivery succeeds', THREE_ATTEMPTS_MS, async () => {
    const found = await deliveryOf(jobId)
    return found?.status === 'DELIVERED' && found
  })
}

function headersOf(request: Received | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(request?.headers ?? {}).map(([name, value]) => [name, String(value)]))
}
