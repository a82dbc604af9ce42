import type { Shown } from '../../domain/session/bearer.ts'
import type { Env } from '../../env.ts'
import { isStillGood } from '../../services/authenticate.ts'
import type { Principal } from '../../services/context.ts'
import { socketWhile } from './socket-while.ts'
import { STREAM_CHECKS } from './watched-stream.ts'

const SWITCHING = 101

/**
 * Returns a WebSocket response that stays open while the key or session that requested it is valid; then both ends are closed with 1008
 * (DER-42).
 */
export function watchedSocket(response: Response, env: Env, shown: Shown, principal: Principal): Response {
  const far = response.webSocket
  if (far === null) return response
  const isGood = () => isStillGood(env, shown, principal, Date.now(), STREAM_CHECKS.maxAgeMs)
  const webSocket = socketWhile(far, {
    isGood,
    everyMs: STREAM_CHECKS.everyMs,
    why: 'the key or session that opened this connection is not valid',
  })
  return new Response(null, { status: SWITCHING, webSocket, headers: response.headers })
}
