import { logEvent } from '../../platform/log.ts'

/**
 * Interval of the checks of an open terminal or connection, and the maximum age of a cached decision about its key, milliseconds: together
 * less than a minute (NET-9). Tests shorten both.
 */
export const DOOR_CHECKS = { everyMs: 10_000, maxAgeMs: 45_000 }

const NO_CODE = 1005
const ABNORMAL = 1006
const NORMAL = 1000
const POLICY = 1008

/** Returns a client's end of a pod's WebSocket. It is closed with 1008 and the reason `why` once `isGood` resolves to false. */
export function watchedSocket(inner: WebSocket, isGood: () => Promise<boolean>, why: string): WebSocket {
  const { 0: client, 1: outer } = new WebSocketPair()
  const timer = setInterval(() => {
    isGood().then(
      (good) => {
        if (good) return
        closeWith(outer, POLICY, why)
        closeWith(inner, POLICY, why)
        clearInterval(timer)
      },
      (error: unknown) => logEvent('warn', 'an open door could not be checked', { error }),
    )
  }, DOOR_CHECKS.everyMs)
  const end = () => clearInterval(timer)
  for (const socket of [inner, outer]) {
    socket.binaryType = 'arraybuffer'
    socket.accept()
  }
  pass(inner, outer, end)
  pass(outer, inner, end)
  return client
}

function pass(from: WebSocket, to: WebSocket, end: () => void): void {
  from.addEventListener('message', ({ data }) => {
    try {
      to.send(data as string | ArrayBuffer)
    } catch {
      // The receiver has closed meanwhile; its own close event ends the pair.
    }
  })
  from.addEventListener('close', ({ code, reason }) => {
    end()
    closeWith(to, code === NO_CODE || code === ABNORMAL ? NORMAL : code, reason)
    closeWith(from, NORMAL, '')
  })
  from.addEventListener('error', () => {
    end()
    closeWith(to, NORMAL, 'the connection ended')
  })
}

function closeWith(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // Already closed.
  }
}
