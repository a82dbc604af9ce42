import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

const LISTENING = 'tracing:net.server.listen:asyncEnd'

/** Ports on which this process or its runtime listens. */
export interface OwnPorts {
  has(port: number): boolean
  add(port: number): void
  stop(): void
}

/** Collects every port on which this process listens after the call: Miniflare opens some without reporting them. */
export function watchOwnPorts(): OwnPorts {
  const ports = new Set<number>()
  const note = (message: unknown) => {
    const address = (message as { server: Server }).server.address()
    if (typeof address === 'object' && address !== null) ports.add(address.port)
  }
  subscribe(LISTENING, note)
  return { has: (port) => ports.has(port), add: (port) => ports.add(port), stop: () => unsubscribe(LISTENING, note) }
}
