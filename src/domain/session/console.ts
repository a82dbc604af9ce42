/** Console sessions, without clock and network. */

/** Ways to start a session: a pasted key, the operator's key, the identity provider, or a link. */
export const SIGN_IN_WAYS = ['KEY', 'OPERATOR_KEY', 'OIDC', 'LINK'] as const

/** Lifetime of a session, regardless of its use (SESSION-1). */
export const CONSOLE_SESSION_TTL_MS = 12 * 3_600_000
/** Resolution of the recorded last use of a session. */
export const SEEN_EVERY_MS = 5 * 60_000
/** Maximum number of sessions of one user; a new one ends the oldest. */
export const MAX_CONSOLE_SESSIONS = 50
/** Maximum number of sessions of one key. They do not count for its user, because a stolen key must not end the sessions of its owner. */
export const MAX_SESSIONS_OF_KEY = 10

/**
 * Value of `X-Requested-With` on requests of the console's pages. Another site cannot send the header without a CORS preflight (SESSION-4).
 */
export const PAGE_MARK = 'podplane'

/** Cookies of the plane itself. */
const COOKIES = { session: 'podplane-session', signIn: 'podplane-sign-in' } as const
/** Prefix of cookies that browsers accept only over https, from this very host and for its whole path (RFC 6265bis). */
const HOST_PREFIX = '__Host-'
const OWN_COOKIE = /^(?:__Host-)?podplane-(?:session|sign-in)$/i

/** Name of a cookie. Over plain http, meant for a local machine, browsers would refuse the `__Host-` name. */
export function cookieName(which: keyof typeof COOKIES, isSecure: boolean): string {
  return isSecure ? HOST_PREFIX + COOKIES[which] : COOKIES[which]
}

/** Whether a cookie is the plane's own, with either name. Workloads neither receive nor set such cookies (SESSION-8). */
export function isOwnCookie(name: string): boolean {
  return OWN_COOKIE.test(name.trim())
}

/** Value of a cookie; null when it is absent or occurs twice, because one of the two may have been planted. */
export function cookieValue(header: string | null, name: string): string | null {
  const values = pairsOf(header).flatMap(([key, value]) => (key === name ? [value] : []))
  return values.length === 1 ? (values[0] ?? null) : null
}

/** `Cookie` header without the plane's own cookies; null when none is left. */
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

/** Facts about the origin of a request. */
export interface Origin {
  method: string
  isSocket: boolean
  requestedWith: string | null
  fetchSite: string | null
  origin: string | null
  /** Host name and port of the request's URL. */
  host: string
}

/** Why a request does not come from a page of the plane itself (SESSION-4 to SESSION-6); null: it does. */
export function notByOwnPage({ method, isSocket, requestedWith, fetchSite, origin, host }: Origin): string | null {
  const changes = method !== 'GET' && method !== 'HEAD'
  // `none`: the user has entered the address.
  const isTyped = fetchSite === 'none' && !changes && !isSocket
  if (fetchSite !== null && fetchSite !== 'same-origin' && !isTyped) return 'the request comes from another site (Sec-Fetch-Site)'
  if (origin !== null && hostOf(origin) !== host) return 'the request comes from another origin (Origin)'
  if (isSocket && origin === null) return 'a WebSocket request with a cookie needs the header Origin'
  if (changes && requestedWith !== PAGE_MARK) return `a request with a cookie needs the header X-Requested-With: ${PAGE_MARK}`
  return null
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

const CONSOLE = '/console'
/** Paths below the console that are not pages. */
const NO_PAGES = /^\/console\/(?:session|session\/link|sign-in\/start|callback|openapi\.json)$/

/**
 * Path to which a user is led after signing in: the requested one if it is a page of the console, otherwise the console itself
 * (SESSION-22).
 */
export function returnPath(asked: string | null): string {
  const here = 'http://plane.invalid'
  if (asked === null || !asked.startsWith('/') || !URL.canParse(asked, here)) return CONSOLE
  const { origin, pathname, search, hash } = new URL(asked, here)
  const isPage = (pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`)) && !NO_PAGES.test(pathname)
  return origin === here && isPage ? pathname + search + hash : CONSOLE
}
