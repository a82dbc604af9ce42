import type { Shown } from '../../domain/session/bearer.ts'
import { cookieName, cookieValue, notByOwnPage } from '../../domain/session/console.ts'
import { authorizationOf } from './authorization.ts'

const CACHE = 'cache-control'

/**
 * What a request shows of who sends it (CS-2): its `Authorization`, and only where it has none the cookie of a console session. That cookie
 * counts when a page of the plane has sent it (CS-4).
 */
export function credentialOf(request: Request): Shown {
  const said = authorizationOf(request)
  if (said !== null) return said
  const secret = ownCookie(request, 'session')
  return secret === null ? null : { secret, fault: crossSiteFault(request) }
}

/** Why a request is not by a page of the plane; null: it is. */
export function crossSiteFault(request: Request): string | null {
  const { headers, method } = request
  return notByOwnPage({
    method,
    isSocket: headers.get('upgrade')?.toLowerCase() === 'websocket',
    requestedWith: headers.get('x-requested-with'),
    fetchSite: headers.get('sec-fetch-site'),
    origin: headers.get('origin'),
    host: new URL(request.url).host,
  })
}

/** The value of one of the plane's own cookies. */
export function ownCookie(request: Request, which: 'session' | 'signIn'): string | null {
  return cookieValue(request.headers.get('cookie'), cookieName(which, isSecure(request)))
}

/** A `Set-Cookie` of the plane's own. The session's goes with requests of its own site alone; that of a sign-in has to come back from another. */
export function setOwnCookie(request: Request, which: 'session' | 'signIn', value: string, maxAgeSeconds: number): string {
  const secure = isSecure(request)
  const sameSite = which === 'session' ? 'Strict' : 'Lax'
  const parts = [`${cookieName(which, secure)}=${value}`, 'Path=/', 'HttpOnly', `SameSite=${sameSite}`, `Max-Age=${maxAgeSeconds}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** Whether the browser speaks https, to the plane or to the proxy on whose machine it runs. */
function isSecure(request: Request): boolean {
  const said = request.cf ? null : request.headers.get('x-forwarded-proto')
  return new URL(request.url).protocol === 'https:' || said === 'https'
}

/** The address of a path of the plane for a browser: below `BASE_URL`, where that is an address, else where the browser has asked. */
export function publicUrl(request: Request, path: string, baseUrl: string | null): string {
  const asked = `${isSecure(request) ? 'https' : 'http'}://${new URL(request.url).host}`
  return new URL(path, baseUrl !== null && URL.canParse(baseUrl) ? baseUrl : asked).href
}

/** What was answered to somebody's cookie is for that browser alone (CS-10). */
export function keepPrivate(request: Request, headers: Headers): void {
  if (request.headers.has('authorization') || ownCookie(request, 'session') === null) return
  if (!headers.get(CACHE)?.includes('no-store')) headers.set(CACHE, 'private, no-cache')
  headers.append('vary', 'Cookie')
}
