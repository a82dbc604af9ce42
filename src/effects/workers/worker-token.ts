import { KEY_KINDS } from '../../contract/key-kinds.ts'
import { WORKER_KEY_ACTIONS } from '../../domain/access.ts'
import type { Env } from '../../env.ts'
import { Owned } from '../../objects/owned.ts'
import { equalInConstantTime, keyedDigest } from '../../platform/crypto.ts'
import { masterSecrets } from '../../platform/seal.ts'

/** Verified pairs of worker and key, which saves an HMAC per call. Bounded; a lost entry only costs time. */
const verified = new Map<string, true>()
const MAX_VERIFIED = 20_000

/**
 * Returns the key that is injected into a worker (WRK-2). It is derived, stored nowhere and bound to one endpoint and one worker. It gives
 * access to worker routes only and becomes invalid when the endpoint object forgets the worker.
 */
export async function issueWorkerToken(env: Env, endpointId: string, workerId: string): Promise<string> {
  return workerToken(masterSecrets(env)[0], endpointId, workerId)
}

async function workerToken(secret: string, endpointId: string, workerId: string): Promise<string> {
  return `${KEY_KINDS.worker}_${await keyedDigest(secret, `worker\n${endpointId}\n${workerId}`)}`
}

/**
 * Returns the endpoint of a call whose raw `Authorization` value is this worker's key, with or without `Bearer`. Null for any other key,
 * and for operations that are not allowed to a worker's key (CAP-20).
 */
export async function ownByWorkerToken(
  env: Env,
  { operation, endpointId, workerId }: { operation: string; endpointId: string; workerId: string },
  authorization: string | null,
): Promise<Owned<'endpoint', null> | null> {
  if (!WORKER_KEY_ACTIONS.includes(operation)) return null
  return (await isTokenOf(env, endpointId, workerId, authorization)) ? Owned.prove('endpoint', endpointId, null) : null
}

async function isTokenOf(env: Env, endpointId: string, workerId: string, authorization: string | null): Promise<boolean> {
  const token = (authorization ?? '').replace(/^Bearer /i, '')
  if (!token.startsWith(`${KEY_KINDS.worker}_`) || token.length > 64) return false
  const entry = `${endpointId}/${workerId}/${token}`
  if (verified.has(entry)) return true
  // Bounded: a plane has two master secrets at most.
  const good = await Promise.all(masterSecrets(env).map((secret) => workerToken(secret, endpointId, workerId)))
  if (!good.some((expected) => equalInConstantTime(token, expected))) return false
  if (verified.size >= MAX_VERIFIED) verified.clear()
  verified.set(entry, true)
  return true
}
