import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { HealthChecks, type HealthVerdict, judgeAnswer } from '../../../src/host-agent/tunnel/health-checks.ts'
import { waitUntil } from '../../support/time.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** A worker whose health path answers `status`, and the verdicts that are reported. */
async function watch(status: number) {
  const worker = { status, asked: [] as string[], told: [] as HealthVerdict[], streams: 0 }
  const server = createServer((request, response) => {
    worker.asked.push(`${request.method} ${request.url}`)
    response.writeHead(worker.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const checks = new HealthChecks({
    served: () => [{ id: 'w1', health: { port: 80, path: '/ready' }, known: worker.told.at(-1)?.health }],
    place: async (_, asked) => ({ host: '127.0.0.1', port: asked === 80 ? port : 0 }),
    streamsOf: () => worker.streams,
    notify: (_, verdict) => worker.told.push(verdict),
  })
  closers.push(
    () => checks.close(),
    () => server.close(),
  )
  return worker
}

describe('health checks', () => {
  test('[LB-7] 200 is healthy, 204 initialises, anything else fails', () => {
    expect([200, 204, 201, 302, 404, 500].map(judgeAnswer)).toEqual(['healthy', 'initialising', 'failing', 'failing', 'failing', 'failing'])
  })

  test('[LB-7] a worker is checked on its path until it is healthy, and reported once', async () => {
    const worker = await watch(204)
    await waitUntil('two checks', () => worker.asked.length >= 2)
    expect(worker.told.every(({ health }) => health === 'initialising')).toBe(true)
    worker.status = 200
    await waitUntil('health', () => worker.told.at(-1)?.health === 'healthy')
    expect([worker.asked[0], worker.told.filter(({ health }) => health === 'healthy')]).toEqual([
      'GET /ready',
      [{ health: 'healthy', reason: null }],
    ])
  })

  test('[LB-8] checks that fail during requests are ignored', async () => {
    const worker = await watch(200)
    await waitUntil('health', () => worker.told.length === 1)
    worker.status = 503
    worker.streams = 1
    const asked = worker.asked.length
    await waitUntil('a check', () => worker.asked.length > asked, 15_000)
    expect(worker.told).toEqual([{ health: 'healthy', reason: null }])
  })
})
