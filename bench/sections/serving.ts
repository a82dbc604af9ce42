import { once } from 'node:events'
import { WebSocket } from 'ws'
import { createApiClient } from '../../src/client/client.ts'
import { WORKER_VCPUS } from '../fake-host.ts'
import { measureSteady } from '../load/steady.ts'
import { type Latencies, latencyRow, median, percentiles, type Row } from '../report.ts'
import { SERVED, type ServingHost, startServingHost } from '../serving-host.ts'
import { type BenchPlane, startBaseline, startBenchPlane } from '../setup.ts'

const PER_SECOND = 500
const SECONDS = 4
const ROUNDS = 5
const WORKERS = 4
const REQUEST_COUNT = 20
const WARM_UP_SECONDS = 2
const TARGET: Latencies = { p50: 0.8, p99: 3 }

/** Latency that the plane adds to requests of a load-balancing endpoint, beside a Worker that passes them on through one object. */
export async function measureServing(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  await using baseline = await startBaseline()
  const upstream = await openPipe(baseline.url)
  const host = await startServingHost(
    { planeUrl: plane.url, joinToken: await plane.createJoinToken('serving'), stateDir: plane.agentDir },
    WORKERS,
  )
  try {
    const endpointId = await createServing(plane, host)
    const headers = { authorization: `Bearer ${plane.apiKey}` }
    const bare = (seconds: number) =>
      measureSteady({ url: baseline.url, perSecond: PER_SECOND, seconds, ask: (one) => one.request('GET', '/pipe', {}) })
    const served = (seconds: number) =>
      measureSteady({ url: plane.url, perSecond: PER_SECOND, seconds, ask: (one) => one.request('GET', `/lb/${endpointId}/`, headers) })
    await bare(WARM_UP_SECONDS)
    await served(WARM_UP_SECONDS)
    const rounds: { bare: Latencies; served: Latencies }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push({ bare: percentiles(await bare(SECONDS)), served: percentiles(await served(SECONDS)) })
    }
    const of = (pick: (round: (typeof rounds)[number]) => Latencies): Latencies => ({
      p50: median(rounds.map((round) => pick(round).p50)),
      p99: median(rounds.map((round) => pick(round).p99)),
    })
    return [
      latencyRow(
        `a bare proxy with one object, ${PER_SECOND}/s`,
        of((round) => round.bare),
      ),
      latencyRow(
        `a load-balancing endpoint, ${PER_SECOND}/s`,
        of((round) => round.served),
      ),
      latencyRow(
        'which adds',
        of((round) => ({ p50: round.served.p50 - round.bare.p50, p99: round.served.p99 - round.bare.p99 })),
        TARGET,
      ),
    ]
  } finally {
    host.close()
    upstream.terminate()
  }
}

/** Connects an upstream to the bare proxy that answers each message at once. */
async function openPipe(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/pipe`, { perMessageDeflate: false })
  await once(socket, 'open')
  socket.on('message', (data) => socket.send(`${String(data)} ${SERVED.toString()}`))
  return socket
}

async function createServing({ url, apiKey }: BenchPlane, host: ServingHost): Promise<string> {
  const created = await createApiClient(url, apiKey).request('POST', '/v2/serverless', {
    name: 'serving',
    type: 'LOAD_BALANCER',
    image: 'builtin/probe',
    cpu: [{ id: 'cpu3c', vcpuCount: WORKER_VCPUS }],
    workers: { min: WORKERS, max: WORKERS, idleTimeout: 3600 },
    scaling: { type: 'REQUEST_COUNT', requestCount: REQUEST_COUNT },
    disk: 1,
  })
  await host.workers
  return (created as { id: string }).id
}
