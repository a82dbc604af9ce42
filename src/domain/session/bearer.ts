/**
 * What a request shows of who sends it: an `Authorization` header, or, where there is none, the cookie of a console session. `fault` says why
 * that cookie counts for nothing here.
 */
export type Shown = string | null | CookieShown
export interface CookieShown {
  secret: string
  fault: string | null
}

/** What an `Authorization` header carries. */
export type Bearer = { kind: 'NONE' } | { kind: 'KEY' | 'TOKEN'; text: string } | { kind: 'TOO_LONG' }

/** The longest header with a key: a key is far shorter, and a few spaces before it do no harm. */
const MAX_KEY_HEADER_CHARS = 512
/** The longest token of a session (SES-2). */
export const MAX_TOKEN_CHARS = 8192
/** Three parts of base64url with dots between them; the last may be missing, and no key has a dot. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Reads `Bearer <text>`; the scheme's case does not matter (RFC 9110). Any other header carries nothing, and neither does an overlong one with
 * a key. A token that is too long is seen by its beginning and not read.
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
