import { once } from 'node:events'
import { WebSocket } from 'ws'
import {
  TUNNEL_ABILITIES,
  TUNNEL_ABILITIES_HEADER,
  TUNNEL_PATH,
  TUNNEL_PING,
  TUNNEL_PING_INTERVAL_MS,
} from '../src/host-protocol/tunnel/frames.ts'
import type { TunnelStream } from '../src/host-protocol/tunnel/stream.ts'
import { TunnelEnd } from '../src/host-protocol/tunnel/tunnel-end.ts'
import { startIdleHost } from '../test/conformance/support/idle-host.ts'

/** Answer of every served request. */
export const SERVED = Buffer.from('{"ok":true}')

export interface ServingHost {
  /** Resolves when the plane has started that many workers. */
  workers: Promise<void>
  close(): void
}

/** A host whose workers answer every request at once, through its tunnel. */
export async function startServingHost(
  options: { planeUrl: string; joinToken: string; stateDir: string },
  count: number,
): Promise<ServingHost> {
  let started = 0
  const { promise: workers, resolve } = Promise.withResolvers<void>()
  const host = await startIdleHost({
    ...options,
    name: 'serving',
    capacity: count,
    isHealthy: true,
    onStart() {
      started += 1
      if (started === count) resolve()
    },
  })
  const socket = new WebSocket(options.planeUrl.replace(/^http/, 'ws') + TUNNEL_PATH, {
    headers: { authorization: `Bearer ${await host.accessToken()}`, [TUNNEL_ABILITIES_HEADER]: TUNNEL_ABILITIES.join(',') },
    perMessageDeflate: false,
  })
  await once(socket, 'open')
  const end = new TunnelEnd({ send: (message) => socket.send(message), onOpen: (stream) => void answer(stream) })
  socket.on('message', (data: Buffer, isBinary) => isBinary && end.receive(data))
  const pings = setInterval(() => socket.send(TUNNEL_PING), TUNNEL_PING_INTERVAL_MS)
  return {
    workers,
    close() {
      clearInterval(pings)
      socket.terminate()
      host.close()
    },
  }
}

async function answer(stream: TunnelStream): Promise<void> {
  stream.accept()
  stream.sendHead({ status: 200, headers: [['content-length', String(SERVED.length)]] })
  await stream.write(SERVED)
  stream.end()
}
