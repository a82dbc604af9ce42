import { Problem } from '../../contract/problems.ts'
import type { Env } from '../../env.ts'
import type { WorkerSpan } from '../endpoint.ts'
import { Owned } from '../owned.ts'
import { endpointStub } from '../stubs.ts'

/** A worker of an endpoint, and from when to when there may be lines of it. */
export interface OwnWorkerSpan extends Omit<WorkerSpan, 'workerId'> {
  worker: Owned<'worker', null>
  isKnown: boolean
}

/** The workers that an endpoint has, and had lately; with a job, those that had it, for as long as they did. Null: no such job. */
export async function ownWorkerSpans(env: Env, endpoint: Owned<'endpoint'>, jobId: string | null): Promise<OwnWorkerSpan[] | null> {
  const spans = await endpointStub(env, endpoint).workerSpans(jobId)
  return spans?.map(({ workerId, ...span }) => ({ ...span, worker: Owned.prove('worker', workerId, null) })) ?? null
}

/**
 * A worker that the endpoint has, or had while its log may still be there: any other id reaches no object (PP-194). Throws 404.
 */
export async function ownWorker(
  env: Env,
  endpoint: Owned<'endpoint'>,
  workerId: string,
): Promise<{ worker: Owned<'worker', null>; isKnown: boolean }> {
  const trace = await endpointStub(env, endpoint).recallWorker(workerId)
  if (trace === null) throw new Problem('notFound')
  return { worker: Owned.prove('worker', workerId, null), isKnown: trace === 'present' }
}

/** The machine that a worker is or was on, if that is still known: no tenant's, and told to none, but asked about the worker. */
export async function hostsOfWorker(env: Env, endpoint: Owned<'endpoint'>, worker: Owned<'worker', null>): Promise<Owned<'host', null>[]> {
  const hostId = await endpointStub(env, endpoint).hostOfWorker(worker.id)
  return hostId === null ? [] : [Owned.prove('host', hostId, null)]
}
