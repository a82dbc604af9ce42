import { Problem } from '../contract/problems.ts'
import type { Env } from '../env.ts'
import { Owned } from './owned.ts'
import { endpointStub } from './stubs.ts'

/** Anything else was never the id of a worker, and must not become the name of an object. */
const WORKER_ID = /^[A-Za-z0-9_-]{1,64}$/

/**
 * A worker that the endpoint has, or had: its log may be kept still, and knows by itself whose it is. Throws 404 for what cannot be one.
 */
export async function ownWorker(
  env: Env,
  endpoint: Owned<'endpoint'>,
  workerId: string,
): Promise<{ worker: Owned<'worker', null>; isKnown: boolean }> {
  if (!WORKER_ID.test(workerId)) throw new Problem('notFound')
  const isKnown = await endpointStub(env, endpoint).knowsWorker(workerId)
  return { worker: Owned.prove('worker', workerId, null), isKnown }
}
