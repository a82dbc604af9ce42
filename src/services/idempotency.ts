import { Problem } from '../contract/problems.ts'
import type { Statement } from '../db/client.ts'
import { openDatabase } from '../db/client.ts'
import { claimKey, isClaimLost, type KeyName, releaseKey, storeResponse } from '../db/idempotency.ts'
import { keyedDigest } from '../platform/crypto.ts'
import { newResourceId } from '../platform/ids.ts'
import type { VerbContext } from './context.ts'

/** Makes the statement that stores a first answer; it stands right behind the one that makes the thing, in its batch. */
export type StoreAnswer<Answer> = (answer: Answer) => readonly Statement[]

/**
 * Runs `create` once for a key (POD-22, PP-125): a repeat of the same request gets the first answer, without running anything. After a refusal the
 * key is free again. Without a key `create` simply runs. Throws 409 while the first request runs, and 422 for another body.
 */
export async function onceForKey<Answer>(
  ctx: VerbContext,
  operation: string,
  key: string | undefined,
  body: unknown,
  create: (store: StoreAnswer<Answer>) => Promise<Answer>,
): Promise<Answer> {
  if (key === undefined) return create(() => [])
  const db = openDatabase(ctx.env.DB)
  const name: KeyName = { teamId: ctx.principal.teamId, operation, key }
  const claim = newResourceId()
  // With a key, because a body may hold a password that could otherwise be guessed from its digest.
  const fingerprint = await keyedDigest(ctx.env.TOKEN_SECRET, JSON.stringify(body))
  const holder = await claimKey(db, { ...name, claim, fingerprint, claimedAt: ctx.nowMs })
  if (holder.claim !== claim) return repeat(holder, fingerprint)
  try {
    return await create((answer) => [storeResponse(db, name, claim, JSON.stringify(answer))])
  } catch (error) {
    if (isClaimLost(error)) throw new Problem('conflict', { detail: STILL_RUNNING, cause: error })
    await releaseKey(db, name, claim)
    throw error
  }
}

const STILL_RUNNING = 'the first request under this Idempotency-Key is still running'

function repeat<Answer>({ fingerprint, response }: { fingerprint: string; response: string | null }, asked: string): Answer {
  if (fingerprint !== asked) {
    throw new Problem('validationFailed', { errors: ['$.Idempotency-Key: was used with another request'] })
  }
  if (response === null) throw new Problem('conflict', { detail: STILL_RUNNING })
  return JSON.parse(response) as Answer
}
