import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { logEvent } from '../../platform/log.ts'
import { isStillGood } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { STREAM_CHECKS } from './watched-stream.ts'

const SWITCHING = 101
const NORMAL = 1000
/** There was none, or the connection broke: neither may be said. */
const UNSAID = [1005, 1006, 1015]
const POLICY = 1008
const BROKEN = 1011

/** A WebSocket that stays open as long as the key or session that asked for it is good; then both of its ends hear 1008 (PP-215). */
export function watchedSocket(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  const far = response.webSocket
  if (far === null) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  return new Response(null, { status: SWITCHING, webSocket: socketWhile(far, isGood, STREAM_CHECKS.everyMs), headers: response.headers })
}

/** The other end of a socket, which ends when it does, or when `isGood` says no. A check that fails changes nothing: the next one comes. */
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
    // Closed already, or with a code that may not be said.
  }
}
