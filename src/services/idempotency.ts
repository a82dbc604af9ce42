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

/** Makes the statement that stores a first answer; it stands right behind the one that makes the thing, in its batch. */
export type StoreAnswer<Answer> = (answer: Answer) => readonly Statement[]

/** What is kept of a first answer, and what a repeat is shown of that. */
export interface Replay<Answer> {
  keep(answer: Answer): Answer
  show(kept: Answer): Promise<Answer>
}

/**
 * Runs `create` once for a key (POD-22, PP-125): a repeat of the same request gets the first answer, without running anything. After a refusal the
 * key is free again. Without a key `create` simply runs. The caller has decided before whether this request may be made at all, repeat or not
 * (PP-236). Throws 400 without room for another key, 409 while the first request runs, and 422 for another body.
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
  throw new Problem('conflict', { detail: 'there was no room for another Idempotency-Key; try again' })
}

/**
 * What a request may be known by. With a key, because a body may hold a password that could otherwise be guessed from its digest; with the one
 * that is not rotated, so that a repeat is known however often TOKEN_SECRET was. A former release took that one.
 */
async function fingerprintsOf(env: Env, fingerprint: string, text: string): Promise<string[]> {
  return [fingerprint, ...(await Promise.all(masterSecrets(env).map((secret) => keyedDigest(secret, text))))]
}

const STILL_RUNNING = 'the first request under this Idempotency-Key is still running'

function repeat<Answer>(
  { fingerprint, response }: { fingerprint: string; response: string | null },
  asked: readonly string[],
  open: (kept: string) => string,
): Answer {
  if (!asked.includes(fingerprint)) {
    throw new Problem('validationFailed', { errors: ['$.Idempotency-Key: was used with another request'] })
  }
  if (response === null) throw new Problem('conflict', { detail: STILL_RUNNING })
  return JSON.parse(open(response)) as Answer
}

// Answers show commands, and those of earlier releases env, so they are sealed as rows are (PP-211); one of a release that sealed none is JSON.
function openAnswer(vault: Vault, place: Place, kept: string): string {
  if (kept.startsWith('{')) return kept
  const text = vault.open(place, kept)
  if (text === null) throw new Error('a stored answer was sealed under a TOKEN_SECRET that this plane does not have')
  return text
}
