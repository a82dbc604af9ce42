import { scopesOfRole } from '../../domain/access.ts'
import { type Accounts, accountFor } from '../../domain/session/accounts.ts'
import { type Env, readSettings } from '../../env.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import type { Principal } from '../context.ts'
import { type Authentication, INVALID, type Refused, type Visit } from '../credentials/authentication.ts'
import { CachedDecisions } from '../credentials/cached-decisions.ts'
import type { Later } from './provider-keys.ts'
import { OUTDATED, signIn } from './sign-in.ts'
import { verifyToken } from './verify-token.ts'

/** The user of a token and the accounts of that user: one lookup serves every team that a request may ask for. */
interface Session {
  credentialId: string
  userId: string
  accounts: Accounts
  expiresAtMs: number
}

/** Characters kept of a digest's 64, enough to distinguish tokens: the id of a session in the audit log. */
export const CREDENTIAL_CHARS = 32
/** Retry delay in seconds, after which the keys of the provider are fetched again. */
const RETRY_SECONDS = 30

/** Indexed by digests of tokens, so that no token stays in memory longer than its request. */
const sessions = new CachedDecisions<Session, Refused>()

/**
 * Returns the caller behind a token of the identity provider (OIDC-2), with the account that it acts for (AUT-7). Zero D1 queries when
 * warm.
 */
export async function authenticateSession(env: Env, token: string, nowMs: number, visit: Visit | undefined): Promise<Authentication> {
  const provider = readSettings(env).sessions
  if (provider === null) return INVALID
  const digest = await sha256Hex(token)
  const refused = sessions.badOf(digest, nowMs)
  if (refused) return refused
  const known = sessions.goodOf(digest, nowMs)
  const current = known && !isMember(known.accounts, visit) ? sessions.youngOf(digest, nowMs) : known
  const session = current ?? (await openSession(env, token, digest, nowMs, (promise) => visit?.waitUntil(promise)))
  return 'problem' in session ? session : answerOf(session, visit?.askedTeam ?? null, nowMs)
}

/** Whether a session still has the rights on its account that it had when `principal` was made (DER-42). */
export async function isSessionStillGood(env: Env, token: string, principal: Principal, nowMs: number, maxAgeMs: number): Promise<boolean> {
  const digest = await sha256Hex(token)
  const holds = (session: Session) => {
    const answer = answerOf(session, principal.teamId, nowMs)
    return answer.ok && answer.principal.teamId === principal.teamId && answer.principal.scopes === principal.scopes
  }
  return sessions.isStillGood(digest, nowMs, maxAgeMs, holds, async () => {
    const session = await openSession(env, token, digest, nowMs, () => undefined)
    return !('problem' in session) && holds(session)
  })
}

async function openSession(env: Env, token: string, digest: string, nowMs: number, later: Later): Promise<Session | Refused> {
  const provider = readSettings(env).sessions
  if (provider === null) return INVALID
  if ('fault' in provider) return unavailable(`sessions are not set up: ${provider.fault}`)
  const verified = await verifyToken(provider, token, nowMs, later)
  if (verified === 'UNAVAILABLE')
    return unavailable('the identity provider cannot be reached, so sessions cannot be verified; API keys still work')
  if ('fault' in verified) return verified.fault === null ? INVALID : { ...INVALID, errors: [verified.fault] }
  const mark = sessions.mark()
  const credentialId = digest.slice(0, CREDENTIAL_CHARS)
  const { subject, claims, expiresAtMs } = verified
  const found = await signIn(env, provider, { subject, claims, credentialId }, nowMs)
  if ('refusal' in found) {
    const { refusal } = found
    const refused: Refused =
      found === OUTDATED ? { ...INVALID, errors: [refusal] } : { ok: false, problem: 'accessDenied', detail: refusal }
    sessions.keepBad(digest, refused, nowMs, mark)
    return refused
  }
  const session = { credentialId, userId: found.userId, accounts: found.accounts, expiresAtMs }
  sessions.keepGood(digest, session, nowMs, mark)
  return session
}

function answerOf(session: Session, askedTeam: string | null, nowMs: number): Authentication {
  return session.expiresAtMs <= nowMs ? INVALID : actAs(session, askedTeam)
}

/** Whether cached accounts are enough for a request: the user may since have joined a team that is missing in them (UI-11). */
export function isMember(accounts: Accounts, visit: Visit | undefined): boolean {
  const asked = visit?.askedTeam ?? null
  return asked === null || accounts.all.has(asked)
}

/** Returns the principal of a signed-in user, with the scopes of the role in the requested account (OIDC-10, AUT-7), or the refusal. */
export function actAs(session: Pick<Session, 'credentialId' | 'userId' | 'accounts'>, askedTeam: string | null): Authentication {
  const { credentialId, userId, accounts } = session
  const account = accountFor(accounts, askedTeam)
  if (account === null) return { ok: false, problem: 'accessDenied', detail: 'this account was deleted: contact the operator of the plane' }
  const { teamId, membership } = account
  if (membership.isSuspended) return { ok: false, problem: 'accountSuspended', sessionAccount: teamId }
  return { ok: true, principal: { via: 'SESSION', credentialId, userId, teamId, scopes: scopesOfRole(membership.role) } }
}

function unavailable(detail: string): Refused {
  return { ok: false, problem: 'unavailable', detail, waitSeconds: RETRY_SECONDS }
}
