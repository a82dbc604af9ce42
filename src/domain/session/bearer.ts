/**
 * Credential of a request: its `Authorization` header, or, without one, the cookie of a console session. `fault` is the reason why the
 * cookie is not accepted for this request; null: it is accepted.
 */
export type Shown = string | null | CookieShown
/** A session cookie of a request. `fault`: why the request may not use it; null: it may. */
export interface CookieShown {
  secret: string
  fault: string | null
}

/** Content of an `Authorization` header. */
export type Bearer = { kind: 'NONE' } | { kind: 'KEY' | 'TOKEN'; text: string } | { kind: 'TOO_LONG' }

/** Maximum length of a header with a key. A key is far shorter; the rest allows for extra spaces before it. */
const MAX_KEY_HEADER_CHARS = 512
/** Maximum length of a session token (OIDC-2). */
export const MAX_TOKEN_CHARS = 8192
/** Three base64url parts separated by dots; the last may be empty. A key contains no dot. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Reads `Bearer <text>`; the scheme is case-insensitive (RFC 9110). Any other header, and an overlong one with a key, is `NONE`. An
 * overlong token is recognized by its beginning and not read further.
 */
export function readBearer(authorization: string | null): Bearer {
  if (authorization === null) return { kind: 'NONE' }
  if (authorization.length > MAX_TOKEN_CHARS + 'Bearer '.length) {
    return { kind: /^bearer +eyJ/i.test(authorization.slice(0, MAX_KEY_HEADER_CHARS)) ? 'TOO_LONG' : 'NONE' }
  }
  const text = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (text === undefined) return { kind: 'NONE' }
  if (TOKEN.test(text)) return { kind: 'TOKEN', text }
  return authorization.length > MAX_KEY_HEADER_CHARS ? { kind: 'NONE' } : { kind: 'KEY', text }
}
