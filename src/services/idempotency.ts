import { Problem } from '../contract/problems.ts'
import type { Statement } from '../db/client.ts'
import { openDatabase } from '../db/client.ts'
import { claimKey, isClaimLost, KEY_TAKES, type KeyName, placeOfAnswer, releaseKey, storeResponse } from '../db/idempotency.ts'
import type { Env } from '../env.ts'
import { keyedDigest } from '../platform/crypto.ts'
import { newResourceId } from '../platform/ids.ts'
import { masterSecrets, type Place, type Vault, vaultOf } from '../platform/seal.ts'
import { requireBudget } from './budgets.ts'
import type { VerbContext } from './context.ts'

/** Returns the statement that stores a first answer, for the batch of the create, right after its own statement. */
export type StoreAnswer<Answer> = (answer: Answer) => readonly Statement[]

/** Conversion of a first answer for storage, and of a stored answer for a repeat. */
export interface Replay<Answer> {
  keep(answer: Answer): Answer
  show(kept: Answer): Promise<Answer>
}

/**
 * Runs `create` once for a key (POD-22, IDEM-2): a repeat of the same request gets the first answer, without running anything. After a
 * refusal the key is free again. Without a key `create` simply runs. The caller has already checked the right to make this request, also
 * for a repeat (IDEM-4). Throws 400 without room for another key, 409 while the first request runs, and 422 for another body.
 */
export async function onceForKey<Answer>(
  ctx: VerbContext,
  operation: string,
  key: string | undefined,
  body: unknown,
  create: (store: StoreAnswer<Answer>) => Promise<Answer>,
  replay?: Replay<Answer>,
): Promise<Answer> {
  if (key === undefined) return create(() => [])
  const db = openDatabase(ctx.env.DB)
  const name: KeyName = { teamId: ctx.principal.teamId, operation, key }
  const claim = newResourceId()
  const vault = vaultOf(ctx.env)
  const text = JSON.stringify(body)
  const fingerprint = await keyedDigest(ctx.env.KEY_PEPPER, `idempotency\n${text}`)
  const holder = await claimKey(db, { ...name, claim, fingerprint, claimedAt: ctx.nowMs })
  if (holder === null) return refuseKey(ctx)
  const place = placeOfAnswer(name)
  if (holder.claim !== claim) {
    const kept = repeat<Answer>(holder, await fingerprintsOf(ctx.env, fingerprint, text), (sealed) => openAnswer(vault, place, sealed))
    return replay ? replay.show(kept) : kept
  }
  const kept = (answer: Answer) => vault.seal(place, JSON.stringify(replay ? replay.keep(answer) : answer))
  try {
    return await create((answer) => [storeResponse(db, name, claim, kept(answer))])
  } catch (error) {
    if (isClaimLost(error)) throw new Problem('conflict', { detail: STILL_RUNNING, cause: error })
    await releaseKey(db, name, claim)
    throw error
  }
}

async function refuseKey({ env, principal }: VerbContext): Promise<never> {
  await requireBudget(env, principal.teamId, KEY_TAKES)
  throw new Problem('conflict', { detail: "the account's Idempotency-Key budget was full for a moment; retry" })
}

/**
 * Returns all fingerprints of a request. They are keyed, because a plain digest of the body would allow guessing a password in it. The
 * first uses a key that is not rotated, so that a repeat is recognised after any rotation of TOKEN_SECRET; the others match rows of an
 * older release.
 */
async function fingerprintsOf(env: Env, fingerprint: string, text: string): Promise<string[]> {
  // Bounded: a plane has two master secrets at most.
  return [fingerprint, ...(await Promise.all(masterSecrets(env).map((secret) => keyedDigest(secret, text))))]
}

const STILL_RUNNING = 'the first request under this Idempotency-Key is still running'

function repeat<Answer>(
  { fingerprint, response }: { fingerprint: string; response: string | null },
  asked: readonly string[],
  open: (kept: string) => string,
): Answer {
  if (!asked.includes(fingerprint)) {
    throw new Problem('validationFailed', { errors: ['$.Idempotency-Key: was already used with a different request'] })
  }
  if (response === null) throw new Problem('conflict', { detail: STILL_RUNNING })
  return JSON.parse(open(response)) as Answer
}

// Stored answers contain commands, and those of older releases env, so they are sealed like rows (SEAL-2). A plain JSON text comes from a
// release that did not seal them.
function openAnswer(vault: Vault, place: Place, kept: string): string {
  if (kept.startsWith('{')) return kept
  const text = vault.open(place, kept)
  if (text === null) throw new Error('a stored answer was sealed under a TOKEN_SECRET that this plane does not have')
  return text
}
