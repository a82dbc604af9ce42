import type { Shown } from '../../domain/session/bearer.ts'
import { cookieName, cookieValue, notByOwnPage } from '../../domain/session/console.ts'
import { authorizationOf } from './authorization.ts'

const CACHE = 'cache-control'

/**
 * Returns the credential of a request (SESSION-2): its `Authorization`, or else the cookie of a console session. The cookie counts only if
 * a page of the plane has sent the request (SESSION-4).
 */
export function credentialOf(request: Request): Shown {
  const said = authorizationOf(request)
  if (said !== null) return said
  const secret = ownCookie(request, 'session')
  return secret === null ? null : { secret, fault: crossSiteFault(request) }
}

/** Returns why a request does not come from a page of the plane; null if it does. */
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

/** Returns the value of a cookie that the plane has set. */
export function ownCookie(request: Request, which: 'session' | 'signIn'): string | null {
  return cookieValue(request.headers.get('cookie'), cookieName(which, isSecure(request)))
}

/**
 * Returns a `Set-Cookie` value. The session cookie is `SameSite=Strict`; the sign-in cookie is `Lax`, because it must come back from the
 * identity provider's site.
 */
export function setOwnCookie(request: Request, which: 'session' | 'signIn', value: string, maxAgeSeconds: number): string {
  const secure = isSecure(request)
  const sameSite = which === 'session' ? 'Strict' : 'Lax'
  const parts = [`${cookieName(which, secure)}=${value}`, 'Path=/', 'HttpOnly', `SameSite=${sameSite}`, `Max-Age=${maxAgeSeconds}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** Whether the browser uses https, towards the plane or towards the proxy in front of a plane on one machine. */
function isSecure(request: Request): boolean {
  const said = request.cf ? null : request.headers.get('x-forwarded-proto')
  return new URL(request.url).protocol === 'https:' || said === 'https'
}

/**
 * Returns the absolute URL of a path of the plane for a browser: below `BASE_URL` if that is a URL, otherwise below the origin of the
 * request.
 */
export function publicUrl(request: Request, path: string, baseUrl: string | null): string {
  const asked = `${isSecure(request) ? 'https' : 'http'}://${new URL(request.url).host}`
  return new URL(path, baseUrl !== null && URL.canParse(baseUrl) ? baseUrl : asked).href
}

/** Marks an answer to a request with a session cookie as private to that browser (SESSION-10). */
export function markPrivate(request: Request, headers: Headers): void {
  if (request.headers.has('authorization') || ownCookie(request, 'session') === null) return
  if (!headers.get(CACHE)?.includes('no-store')) headers.set(CACHE, 'private, no-cache')
  headers.append('vary', 'Cookie')
}
