import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { RelayBounds } from '../bounds.ts'
import { isLoopback, plainAddress, type RelayCallers } from './callers.ts'

/** Minimum number of connections for each workload, however many there are. */
const LEAST_CONNECTIONS = 64

type ConnectionBounds = Pick<RelayBounds, 'maxConnections' | 'callerMaxConnections' | 'unknownCallerMaxConnections'>

/** Closes connections above the limit of their container, so that none uses up the open files of this process (HOST-76). */
export function boundConnections(server: Server, callers: RelayCallers, bounds: ConnectionBounds): void {
  const open = new Map<string, number>()
  server.maxConnections = bounds.maxConnections
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    const count = (open.get(address) ?? 0) + 1
    // Programs of this machine itself share one address.
    if (!isLoopback(address) && count > roomFor(address, callers, bounds)) return void socket.destroy()
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

function roomFor(address: string, callers: RelayCallers, bounds: ConnectionBounds): number {
  if (!callers.isAt(address)) return bounds.unknownCallerMaxConnections
  const share = Math.floor(bounds.maxConnections / Math.max(1, callers.count))
  return Math.min(bounds.callerMaxConnections, Math.max(LEAST_CONNECTIONS, share))
}
