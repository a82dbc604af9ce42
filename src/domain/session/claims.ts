import { oneCase } from '../text/letter-case.ts'

/** What a verified token says of whoever signed in. Every claim is as unknown as it came. */
export type Claims = Readonly<Record<string, unknown>>

/** Who a token is about, at the provider that signed it, and until when. */
export interface Subject {
  subject: string
  expiresAtMs: number
}

/** How far clocks of provider and plane may differ; an end is an end, to the second. */
export const CLOCK_TOLERANCE_SECONDS = 30
const MAX_SUBJECT_CHARS = 255
const MAX_EMAIL_CHARS = 254
const EMAIL_FORM = /^[^\s@\p{C}]+@([^\s@\p{C}]+)$/u
/** Tokens for a caller: RFC 7519, and RFC 9068 for access tokens. What is for other uses, such as a logout token, has a type of its own. */
const TYPES = ['jwt', 'at+jwt']

/** Whether the type that a token's header names is one that a caller shows (SES-2). */
export function isCallersType(typ: unknown): boolean {
  if (typ === undefined) return true
  return typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''))
}

/** Whom a token is about (SES-2); a text says what is wrong with it. Times, issuer and audience have been checked. */
export function subjectOf(claims: Claims): Subject | string {
  const { sub, exp, cnf } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS) return 'sub has to be a text of 1 to 255 characters'
  if (typeof exp !== 'number') return 'exp is missing'
  if (cnf !== undefined) return 'the token is bound to a key of its owner (cnf) and is no bearer token'
  return { subject: sub, expiresAtMs: exp * 1000 }
}

/**
 * Whether the provider has issued a token after the operator has forgotten the identities of a user (DER-31). A clock that is ahead as far as
 * it may makes no earlier token later, and a token without a time proves nothing.
 */
export function isIssuedAfter({ iat }: Claims, forgottenAtMs: number | null): boolean {
  return forgottenAtMs === null || (typeof iat === 'number' && (iat - CLOCK_TOLERANCE_SECONDS) * 1000 > forgottenAtMs)
}

/**
 * The address with which somebody signs in for the first time, and why nobody new may; null: anybody may. Or why nobody may with this token
 * (SES-6, SES-7).
 */
export type FirstSight = { email: string; newcomerRefusal: string | null } | { refusal: string }

/**
 * Judges the address of a token. A provider that says nothing of having verified it is believed for domains that the operator lists; one that
 * says it has not never is. With a list, newcomers are of its domains.
 */
export function judgeFirstSight(claims: Claims, emailDomains: readonly string[] | null): FirstSight {
  const email = typeof claims.email === 'string' ? oneCase(claims.email) : ''
  const domain = EMAIL_FORM.exec(email)?.[1]
  if (domain === undefined || email.length > MAX_EMAIL_CHARS) {
    return {
      refusal: 'the token names no e-mail address: ask for the scope email, or have the provider add the claims email and email_verified',
    }
  }
  const isListed = emailDomains?.includes(domain) ?? false
  const isVerified = claims.email_verified === true || (claims.email_verified === undefined && isListed)
  if (!isVerified) return { refusal: 'the e-mail address is not verified: verify it at the identity provider, then sign in again' }
  const isStranger = emailDomains !== null && !isListed
  return {
    email,
    newcomerRefusal: isStranger ? `addresses of ${domain} may not sign up here: ask the operator of the plane for an account` : null,
  }
}
