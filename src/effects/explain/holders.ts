import { openDatabase, openRecords } from '../../db/client.ts'
import { findEndpoints } from '../../db/endpoints/endpoints.ts'
import { type HeldByWorker, listHolders } from '../../db/hosts/holders.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import type { Holder } from '../../domain/explain/holders.ts'
import { leavingTimes } from '../../domain/worker/leaving.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { logEvent } from '../../platform/log.ts'
import { knownHolders } from './memory.ts'

/** Endpoints that are asked when their idle workers leave. */
const MAX_ASKED = 16

/** Returns the pods of an account that may be stopped (WHY-14), in two statements of one batch. */
export async function readStoppablePods(env: Env, teamId: string, nowMs: number): Promise<Holder[]> {
  return (await read(env, teamId, nowMs)).pods
}

/** Returns the pods of an account that may be stopped, and its workers that leave by themselves with the time until then (WHY-15). */
export async function readHolders(env: Env, teamId: string, nowMs: number): Promise<Holder[]> {
  const { pods, workers } = await read(env, teamId, nowMs)
  if (workers.length === 0) return pods
  const ids = [...new Set(workers.map(({ endpointId }) => endpointId))].slice(0, MAX_ASKED)
  const configs = await findEndpoints(openRecords(env), teamId, ids)
  const times = new Map((await mapAtOnce(configs, (config) => askTimes(env, config))).flat())
  return [...pods, ...workers.flatMap((worker) => withTime(worker, times.get(worker.id), nowMs))]
}

function withTime({ endpointId: _endpoint, ...worker }: HeldByWorker, atMs: number | undefined, nowMs: number): Holder[] {
  return atMs === undefined ? [] : [{ ...worker, leavesInMs: Math.max(0, atMs - nowMs) }]
}

function read(env: Env, teamId: string, nowMs: number): ReturnType<typeof listHolders> {
  return knownHolders.load(teamId, nowMs, () => listHolders(openDatabase(env.DB), teamId))
}

// On failure returns no times, because advice about the other holders is useful without them.
async function askTimes(env: Env, config: EndpointConfig): Promise<[string, number][]> {
  try {
    return leavingTimes(config, await endpointStub(env, asPlane('endpoint', config.id, 'explains')).impact())
  } catch (error) {
    logEvent('warn', 'an endpoint could not say when its workers leave', { endpointId: config.id, error })
    return []
  }
}
