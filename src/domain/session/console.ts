/** Sessions of the console, as far as they need no clock and no network. */

/** How a session was made: by a pasted key, the operator's key, the identity provider, or a link. */
export const SIGN_IN_WAYS = ['KEY', 'OPERATOR_KEY', 'OIDC', 'LINK'] as const

/** A session ends this long after it began, whatever is done with it (CS-1). */
export const CONSOLE_SESSION_TTL_MS = 12 * 3_600_000
/** How exactly it is known when a session was last used. */
export const SEEN_EVERY_MS = 5 * 60_000
/** Sessions of one user; a new one ends the oldest. */
export const MAX_CONSOLE_SESSIONS = 50
/** Sessions of one key, which do not count for its user: a stolen key must not end the sessions of its owner. */
export const MAX_SESSIONS_OF_KEY = 10

/** What a request has to say in `X-Requested-With` to be by a page: no other site can say it without asking first (CS-4). */
export const PAGE_MARK = 'podplane'

/** Cookies that are the plane's own. */
const COOKIES = { session: 'podplane-session', signIn: 'podplane-sign-in' } as const
/** Browsers take such a cookie from this very host alone, over https, for all of it (RFC 6265bis). */
const HOST_PREFIX = '__Host-'
const OWN_COOKIE = /^(?:__Host-)?podplane-(?:session|sign-in)$/i

/** What a cookie is called. Over plain http, which is for one's own machine, no browser would keep the guarded name. */
export function cookieName(which: keyof typeof COOKIES, isSecure: boolean): string {
  return isSecure ? HOST_PREFIX + COOKIES[which] : COOKIES[which]
}

/** Whether a cookie is the plane's, whatever the scheme: no workload is told of it or may set it (CS-8). */
export function isOwnCookie(name: string): boolean {
  return OWN_COOKIE.test(name.trim())
}

/** The value of a cookie. One that comes twice may have been planted, and is none. */
export function cookieValue(header: string | null, name: string): string | null {
  const values = pairsOf(header).flatMap(([key, value]) => (key === name ? [value] : []))
  return values.length === 1 ? (values[0] ?? null) : null
}

/** A `Cookie` header without the plane's own; null: nothing is left of it. */
export function withoutOwnCookies(header: string): string | null {
  const others = header.split(';').filter((pair) => !isOwnCookie(pair.split('=', 1)[0] ?? ''))
  const left = others.join(';').trim()
  return left === '' ? null : left
}

function pairsOf(header: string | null): [name: string, value: string][] {
  return (header ?? '').split(';').flatMap((pair): [string, string][] => {
    const equals = pair.indexOf('=')
    return equals < 0 ? [] : [[pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]]
  })
}

/** Where a request says that it comes from. */
export interface Origin {
  method: string
  isSocket: boolean
  requestedWith: string | null
  fetchSite: string | null
  origin: string | null
  /** Name and port under which the plane was called. */
  host: string
}

/** Why a request is not by a page of the plane itself (CS-4 to CS-6); null: it is. */
export function notByOwnPage({ method, isSocket, requestedWith, fetchSite, origin, host }: Origin): string | null {
  const changes = method !== 'GET' && method !== 'HEAD'
  // `none`: somebody has typed the address.
  const isTyped = fetchSite === 'none' && !changes && !isSocket
  if (fetchSite !== null && fetchSite !== 'same-origin' && !isTyped) return 'the request comes from another site (Sec-Fetch-Site)'
  if (origin !== null && hostOf(origin) !== host) return 'the request comes from another origin (Origin)'
  if (isSocket && origin === null) return 'a WebSocket by cookie has to say its Origin'
  if (changes && requestedWith !== PAGE_MARK) return `a request by cookie needs the header X-Requested-With: ${PAGE_MARK}`
  return null
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

const CONSOLE = '/console'
/** Below the console, and no pages. */
const NO_PAGES = /^\/console\/(?:session|session\/link|sign-in\/start|callback|openapi\.json)$/

/** Where somebody is led after signing in: a page of the console, whatever was asked for (CS-22). */
export function returnPath(asked: string | null): string {
  const here = 'http://plane.invalid'
  if (asked === null || !asked.startsWith('/') || !URL.canParse(asked, here)) return CONSOLE
  const { origin, pathname, search, hash } = new URL(asked, here)
  const isPage = (pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`)) && !NO_PAGES.test(pathname)
  return origin === here && isPage ? pathname + search + hash : CONSOLE
}
