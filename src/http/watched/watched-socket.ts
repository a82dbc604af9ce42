import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { isStillGood } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { STREAM_CHECKS } from './watched-stream.ts'

const SWITCHING = 101
const NORMAL = 1000
/** Reserved close codes (RFC 6455 §7.4.1) that must not be sent. */
const UNSAID = [1005, 1006, 1015]
const POLICY = 1008
const BROKEN = 1011

/**
 * Returns a WebSocket response that stays open while the key or session that requested it is valid; then both ends are closed with 1008
 * (PP-215).
 */
export function watchedSocket(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  const far = response.webSocket
  if (far === null) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  return new Response(null, { status: SWITCHING, webSocket: socketWhile(far, isGood, STREAM_CHECKS.everyMs), headers: response.headers })
}

/**
 * Returns the client's end of a socket. The pair ends when either end closes, or when `isGood` resolves to false. A failed check changes
 * nothing until the next one.
 */
function socketWhile(far: WebSocket, isGood: () => Promise<boolean>, everyMs: number): WebSocket {
  const pair = new WebSocketPair()
  const near = pair[1]
  const end = (code: number, reason: string) => {
    clearInterval(timer)
    for (const socket of [near, far]) close(socket, code, reason)
  }
  const timer = setInterval(() => {
    isGood().then(
      (good) => good || end(POLICY, 'the key or session that opened this is no longer good'),
      (error: unknown) => logEvent('warn', 'the key of a WebSocket could not be checked', { error }),
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
