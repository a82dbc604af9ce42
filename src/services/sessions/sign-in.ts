import { findUserByEmail } from '../../db/accounts/accounts.ts'
import { openDatabase } from '../../db/client.ts'
import { findSignedIn, hasIdentityAt, linkIdentity, type SignedIn, signUp } from '../../db/sessions/identities.ts'
import { type Claims, isIssuedAfter, judgeFirstSight } from '../../domain/session/claims.ts'
import type { Provider } from '../../domain/session/settings.ts'
import { LOST, retryLost } from '../../effects/retry-lost.ts'
import type { Env } from '../../env.ts'
import { newAuditId, newResourceId } from '../../platform/ids.ts'

/** The user of a token as far as a sign-in needs it. */
export interface Newcomer {
  subject: string
  credentialId: string
  claims: Claims
}

const DELETED = { refusal: 'this account was deleted: contact the operator of the plane' }
const TAKEN = {
  refusal: 'the account with this e-mail address is linked to another identity at the provider: contact the operator of the plane',
}
/** The refusal of a token from before the operator freed the user's identities; a newer token of the same user is valid (DER-31). */
export const OUTDATED = { refusal: 'the operator has ended the sessions of this user: sign in at the identity provider again' }
/** Refusals because of the account and not because of the address. */
export const NO_ACCOUNT: readonly { refusal: string }[] = [DELETED, TAKEN]
/** A request that loses a race for an address or an identity finds the winner's in its next try. */
const MAX_TRIES = 3

/** Returns the user of an identity, created or linked at first sight (OIDC-5 to OIDC-8), or the refusal. */
export async function signIn(env: Env, provider: Provider, who: Newcomer, nowMs: number): Promise<SignedIn | { refusal: string }> {
  const outcome = await retryLost(async () => {
    const known = await findSignedIn(openDatabase(env.DB), provider.issuer, who.subject)
    if (known) return known.isDeleted ? DELETED : known
    // The next try reads the identity that this one created, or the one of the request that was first.
    return (await enter(env, provider, who, nowMs)) ?? LOST
  }, MAX_TRIES)
  if (outcome === LOST) throw new Error('an identity keeps changing')
  return outcome
}

/** Creates the missing identity; does nothing when another request has created it first. */
async function enter(env: Env, provider: Provider, who: Newcomer, nowMs: number): Promise<{ refusal: string } | null> {
  const db = openDatabase(env.DB)
  const sight = judgeFirstSight(who.claims, provider.emailDomains)
  if ('refusal' in sight) return sight
  const { email, newcomerRefusal } = sight
  const identity = { issuer: provider.issuer, subject: who.subject, createdAt: nowMs }
  const note = { id: newAuditId(nowMs), at: nowMs, credentialId: who.credentialId }
  const user = await findUserByEmail(db, email)
  if (user) {
    if (user.deletedAt !== null) return DELETED
    if (await hasIdentityAt(db, provider.issuer, user.id)) return TAKEN
    if (!isIssuedAfter(who.claims, user.identitiesForgottenAt)) return OUTDATED
    await linkIdentity(db, { ...identity, userId: user.id }, user.identitiesForgottenAt, { ...note, teamId: user.personalTeamId })
    return null
  }
  if (newcomerRefusal !== null) return { refusal: newcomerRefusal }
  const account = { id: newResourceId(), email, personalTeamId: newResourceId(), createdAt: nowMs }
  await signUp(db, account, { ...identity, userId: account.id }, { ...note, teamId: account.personalTeamId })
  return null
}
