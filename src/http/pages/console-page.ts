import type { AppContext } from '../app-env.ts'
import { notElsewhere, scriptSource } from './script-source.ts'

/** The console's page among the static assets of the build. */
const PAGE = '/console/index.html'
/** Files whose names contain a hash of their bytes. */
const HASHED = '/console/assets/'
/** The service worker, always at the same address, so that a newer version replaces it; `/console` itself is outside its default scope. */
const OFFLINE = '/console/offline.js'
/** Files with fixed names. */
const NAMED = [OFFLINE, '/console/load-again.js']
const FOR_EVER = 'public, max-age=31536000, immutable'

/** Scripts that a page of the console may load (EDG-12), including the service worker's. */
const SCRIPTS = [HASHED, ...NAMED]
/** Inline styles are allowed, because the terminal and the menus set styles in the page (adr/0039). */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** Serves a file of the console. Any other address below `/console` gets the page, which chooses its own view (UI-4, UI-2). */
export async function consolePage(c: AppContext): Promise<Response> {
  const { pathname } = new URL(c.req.url)
  const isHashed = pathname.startsWith(HASHED)
  const isFile = isHashed || NAMED.includes(pathname)
  const asset = await c.env.ASSETS.fetch(new Request(new URL(isFile ? pathname : PAGE, c.req.url), { headers: conditionsOf(c.req.raw) }))
  const followed = notElsewhere(await followOnce(c, asset))
  // Asset responses have immutable headers, and the request id is added to every response.
  const response = new Response(followed.body, followed)
  response.headers.set('X-Content-Type-Options', 'nosniff')
  if (isHashed) {
    if (followed.ok) response.headers.set('Cache-Control', FOR_EVER)
    return response
  }
  response.headers.set('Cache-Control', 'no-cache')
  if (pathname === OFFLINE) response.headers.set('Service-Worker-Allowed', '/console')
  response.headers.set('Content-Security-Policy', `${POLICY}; ${scriptSource(c.req.url, SCRIPTS)}`)
  response.headers.set('Referrer-Policy', 'no-referrer')
  response.headers.set('X-Frame-Options', 'DENY')
  response.headers.set('Cross-Origin-Opener-Policy', 'same-origin')
  return response
}

function conditionsOf(request: Request): Headers {
  const etag = request.headers.get('if-none-match')
  return new Headers(etag === null ? {} : { 'if-none-match': etag })
}

// The asset service of a deployed plane redirects `index.html` to its folder.
async function followOnce(c: AppContext, asset: Response): Promise<Response> {
  const location = asset.headers.get('location')
  if (location === null || asset.status < 300 || asset.status > 399 || asset.status === 304) return asset
  return await c.env.ASSETS.fetch(new Request(new URL(location, c.req.url)))
}
