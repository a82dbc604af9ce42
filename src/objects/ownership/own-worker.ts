import { Problem } from '../../contract/problems.ts'
import type { Env } from '../../env.ts'
import type { WorkerSpan } from '../../rpc/endpoint.ts'
import { Owned } from '../owned.ts'
import { endpointStub } from '../stubs.ts'

/** A worker of an endpoint, and the period for which its log may have lines. */
export interface OwnWorkerSpan extends Omit<WorkerSpan, 'workerId'> {
  worker: Owned<'worker', null>
}

/** Present and recent workers of an endpoint; with a job, the workers of its attempts and their periods. Null: no such job. */
export async function ownWorkerSpans(env: Env, endpoint: Owned<'endpoint'>, jobId: string | null): Promise<OwnWorkerSpan[] | null> {
  const spans = await endpointStub(env, endpoint).workerSpans(jobId)
  return spans?.map(({ workerId, ...span }) => ({ ...span, worker: Owned.prove('worker', workerId, null) })) ?? null
}

/** A worker that the endpoint has, or had within the time that its log is retained: any other id reaches no object (LOG-21). Throws 404. */
export async function ownWorker(
  env: Env,
  endpoint: Owned<'endpoint'>,
  workerId: string,
): Promise<Pick<OwnWorkerSpan, 'worker' | 'isKnown'>> {
  const trace = await endpointStub(env, endpoint).recallWorker(workerId)
  if (trace === null) throw new Problem('notFound')
  return { worker: Owned.prove('worker', workerId, null), isKnown: trace === 'present' }
}

/** The host of a worker, if still known: it belongs to no tenant and is shown to none, but is queried about the worker. */
export async function hostsOfWorker(env: Env, endpoint: Owned<'endpoint'>, worker: Owned<'worker', null>): Promise<Owned<'host', null>[]> {
  const hostId = await endpointStub(env, endpoint).hostOfWorker(worker.id)
  return hostId === null ? [] : [Owned.prove('host', hostId, null)]
}
