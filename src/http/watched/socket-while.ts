import { logEvent } from '../../platform/log.ts'

const NORMAL = 1000
/** Reserved close codes (RFC 6455 §7.4.1) that must not be sent. */
const UNSAID = [1005, 1006, 1015]
const POLICY = 1008
const BROKEN = 1011

/** A repeated check of the right to keep a WebSocket open. */
export interface SocketCheck {
  isGood(): Promise<boolean>
  /** Interval of the checks, milliseconds. */
  everyMs: number
  /** Reason of the close that a failed check causes. */
  why: string
}

/**
 * Returns the client's end of a socket. The pair ends when either end closes, with 1011 when a connection breaks, and with 1008 when
 * `isGood` resolves to false. A check that throws changes nothing until the next one.
 */
export function socketWhile(far: WebSocket, { isGood, everyMs, why }: SocketCheck): WebSocket {
  const pair = new WebSocketPair()
  const near = pair[1]
  const end = (code: number, reason: string) => {
    clearInterval(timer)
    for (const socket of [near, far]) close(socket, code, reason)
  }
  const timer = setInterval(() => {
    isGood().then(
      (good) => good || end(POLICY, why),
      (error: unknown) => logEvent('warn', 'an open WebSocket could not be checked', { error }),
    )
  }, everyMs)
  pass(far, near, end)
  pass(near, far, end)
  return pair[0]
}

function pass(from: WebSocket, to: WebSocket, end: (code: number, reason: string) => void): void {
  from.binaryType = 'arraybuffer'
  from.accept()
  from.addEventListener('message', ({ data }) => {
    try {
      to.send(data)
    } catch {
      end(BROKEN, 'the other end has gone')
    }
  })
  from.addEventListener('close', ({ code, reason }) => end(UNSAID.includes(code) ? NORMAL : code, reason))
  from.addEventListener('error', () => end(BROKEN, 'the connection broke'))
}

function close(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // Already closed, or closed with a reserved code.
  }
}
