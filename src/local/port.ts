import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, OperatorError } from '../node/fail.ts'

export const LOOPBACK = '127.0.0.1'

const RETRY_MS = 50

/**
 * Checks that a port of the loopback address can be bound, and picks a free one for port 0. Workerd itself would report only "failed to
 * start". The sockets of a killed process close a moment after it has ended, so the check can be repeated for `patienceMs`.
 */
export async function claimPort(port: number, patienceMs = 0): Promise<number> {
  const deadline = performance.now() + patienceMs
  try {
    return await bindOnce(port)
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE') && patienceMs > 0) {
      await sleep(RETRY_MS)
      return await claimPort(port, Math.max(0, deadline - performance.now()))
    }
    if (hasCode(error, 'EADDRINUSE')) throw new OperatorError(`port ${port} is already in use; set PORT=… or stop the other program`)
    if (hasCode(error, 'EACCES')) throw new OperatorError(`port ${port} needs more rights than this user has; set PORT=… to one above 1023`)
    throw error
  }
}

function bindOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(bound))
    })
  })
}
