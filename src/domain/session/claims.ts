import { oneCase } from '../text/letter-case.ts'

/** Claims of a verified token. Their types are unchecked. */
export type Claims = Readonly<Record<string, unknown>>

/** User that a token is about, as identified by the provider that signed it, and the token's expiry. */
export interface Subject {
  subject: string
  expiresAtMs: number
}

/** Tolerated difference between the clocks of provider and plane. It does not extend a token's expiry. */
export const CLOCK_TOLERANCE_SECONDS = 30
const MAX_SUBJECT_CHARS = 255
const MAX_EMAIL_CHARS = 254
const EMAIL_FORM = /^[^\s@\p{C}]+@([^\s@\p{C}]+)$/u
/**
 * Types of tokens that callers present: RFC 7519, and RFC 9068 for access tokens. Tokens for other uses, such as logout tokens, have other
 * types.
 */
const TYPES = ['jwt', 'at+jwt']

/** Whether `typ` in a token's header is a type that callers present (OIDC-2). */
export function isCallersType(typ: unknown): boolean {
  if (typ === undefined) return true
  return typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''))
}

/** Subject of a token (OIDC-2), or a text that names the fault. Times, issuer and audience have been checked before. */
export function subjectOf(claims: Claims): Subject | string {
  const { sub, exp, cnf } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS) return 'sub has to be a text of 1 to 255 characters'
  if (typeof exp !== 'number') return 'exp is missing'
  if (cnf !== undefined) return 'the token is bound to a key of its owner (cnf), so it is not a bearer token'
  return { subject: sub, expiresAtMs: exp * 1000 }
}

/**
 * Whether a token was issued after the operator removed the identities of a user (DER-31). The clock tolerance is subtracted, so that a
 * fast clock does not make an earlier token count as later. A token without `iat` is refused.
 */
export function isIssuedAfter({ iat }: Claims, decayedAtMs: number | null): boolean {
  return decayedAtMs === null || (typeof iat === 'number' && (iat - CLOCK_TOLERANCE_SECONDS) * 1000 > decayedAtMs)
}

/**
 * Judgement of the first sign-in of an identity: its e-mail address, and why a new user with it is refused (null: admitted); or why no user
 * is admitted with this token (OIDC-6, OIDC-7).
 */
export type FirstSight = { email: string; newcomerRefusal: string | null } | { refusal: string }

/**
 * Judges the e-mail address of a token. An address without `email_verified` is trusted only in the domains that the operator lists; one
 * with `email_verified: false` never is. With a list, new users must have an address in its domains.
 */
export function judgeFirstSight(claims: Claims, emailDomains: readonly string[] | null): FirstSight {
  const email = typeof claims.email === 'string' ? oneCase(claims.email) : ''
  const domain = EMAIL_FORM.exec(email)?.[1]
  if (domain === undefined || email.length > MAX_EMAIL_CHARS) {
    return {
      refusal:
        'the token has no e-mail address: request the scope email, or configure the provider to add the claims email and email_verified',
    }
  }
  const isListed = emailDomains?.includes(domain) ?? false
  const isVerified = claims.email_verified === true || (claims.email_verified === undefined && isListed)
  if (!isVerified) return { refusal: 'the e-mail address is not verified: verify it at the identity provider, then sign in again' }
  const isUnlisted = emailDomains !== null && !isListed
  return {
    email,
    newcomerRefusal: isUnlisted ? `addresses of ${domain} may not sign up here: ask the operator of the plane for an account` : null,
  }
}
