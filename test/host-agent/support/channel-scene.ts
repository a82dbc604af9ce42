import { silentLog } from '../../../src/host-agent/log.ts'
import type { RelayBounds } from '../../../src/host-agent/relay/bounds.ts'
import { startRelay } from '../../../src/host-agent/relay/relay.ts'
import { until } from '../../support/time.ts'
import { admitted, asWorker } from './callers.ts'
import { ChannelPlane } from './channel-plane.ts'
import { tempDir } from './temp-dir.ts'

/** A relay with worker channels, and its plane. */
export interface Scene {
  plane: ChannelPlane
  invalidated: string[]
  /** Calls the relay as a worker; the path begins with the verb. */
  call(path: string, init?: RequestInit): Promise<Response>
  /** Takes until there is a job. */
  takeJob(): Promise<string>
  close(): Promise<void>
}

/** Starts a relay for the workers `w1` and `w2` of one endpoint. */
export async function channelScene(more: Partial<RelayBounds> = {}, welcomesMs: number | null = null): Promise<Scene> {
  const plane = new ChannelPlane()
  plane.welcomesMs = welcomesMs
  const planeUrl = await plane.open()
  const invalidated: string[] = []
  const tokens = { get: async () => 'host-token', invalidate: (token: string) => void invalidated.push(token) }
  const bounds = { pollHoldMs: 1_000, spoolAfterMs: 2_000, retryBaseMs: 5, retryMaxMs: 20, postIdleMs: 1_000, ...more }
  const relay = await startRelay({
    planeUrl,
    tokens,
    address: '127.0.0.1',
    bounds,
    callers: admitted(['w1', 'w2']),
    log: silentLog(),
    spoolDir: tempDir('relay-spool'),
  })
  const call = (path: string, init: RequestInit = {}) => {
    const url = `http://127.0.0.1:${relay.port}/v2/ep/${path}`
    return fetch(url, { ...init, headers: asWorker(url) })
  }
  const takeJob = async (): Promise<string> => {
    for (;;) {
      const reply = await call('job-take/w1?boot=b1&job_in_progress=0')
      if (reply.status === 200) return ((await reply.json()) as { id: string }).id
    }
  }
  const close = async () => {
    await relay.close()
    await plane.close()
  }
  return { plane, invalidated, call, takeJob, close }
}

/** Opens the channel of a scene: the first call of a worker opens it and is carried by HTTP. */
export async function openChannel({ plane, call }: Scene): Promise<void> {
  await call('ping/w1?boot=b1')
  await until(() => plane.sockets.size === 1)
  plane.httpCalls.length = 0
}
