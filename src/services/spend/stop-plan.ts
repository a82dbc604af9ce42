import { MAX_STOPPED, type SpendStopPlan, type StopSpendRequest } from '../../contract/billing/stops.ts'
import { readStoppable } from '../../db/billing/stops.ts'
import { openDatabase } from '../../db/client.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { type DecidedStop, decideSpendStop, type StoppableEndpoint } from '../../domain/plan/stop.ts'
import { ownEndpoints } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { keyedDigest } from '../../platform/crypto.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { readIdle } from './idle.ts'

/** Digits of a plan's id: enough to avoid collisions within an account. */
const PLAN_ID_LENGTH = 32

/** A plan with its id and the data needed to carry it out. */
export interface NamedStop extends DecidedStop {
  planId: string
  /** Worker bounds of the endpoints before the stop. */
  formerWorkers: ReadonlyMap<string, EndpointConfig['workers']>
}

/** Returns the plan of a stop (SPD-10). Throws 403. */
export async function planSpendStop(ctx: VerbContext, body: StopSpendRequest): Promise<SpendStopPlan> {
  const {
    savedNanosPerHour: _saved,
    facts: _facts,
    formerWorkers: _formerWorkers,
    stoppedWorkers: _stopped,
    ...plan
  } = await makeStopPlan(ctx, body)
  return plan
}

/** Returns the plan of a stop with the data needed to carry it out. Throws 403. */
export async function makeStopPlan(ctx: VerbContext, { ids, idleForSeconds }: StopSpendRequest): Promise<NamedStop> {
  const { env, principal } = ctx
  requireScope(principal, 'pods:write')
  const { pods, workers, volumes } = await readStoppable(openDatabase(env.DB), principal.teamId)
  const nanosOf = new Map(workers.map(({ endpointId, nanosPerHour }) => [endpointId, nanosPerHour]))
  const configs = await ownEndpoints(env, principal, [...new Set([...nanosOf.keys(), ...(ids ?? [])])])
  const endpoints = await mapAtOnce(configs, async (endpoint): Promise<StoppableEndpoint> => {
    const { id, name, revision, workers: bounds } = endpoint.row
    const impact = await endpointStub(env, endpoint).impact()
    return { id, name, revision, workers: bounds, nanosPerHour: nanosOf.get(id) ?? 0, impact }
  })
  const selection = { ids: ids ?? null, idleForMs: idleForSeconds === undefined ? null : idleForSeconds * 1000, nowMs: ctx.nowMs }
  const running = pods.filter(({ isToRun, clusterId }) => isToRun && clusterId === null).map(({ id }) => ({ kind: 'POD', id }))
  const sinceMs = selection.idleForMs === null ? new Map<string, number>() : await readIdle(ctx, running)
  const stoppable = { pods: pods.map((pod) => ({ ...pod, idleSinceMs: sinceMs.get(pod.id) ?? null })), endpoints, volumes }
  const decided = decideSpendStop(stoppable, selection, MAX_STOPPED)
  if (decided.stops.some(({ kind }) => kind === 'ENDPOINT')) requireScope(principal, 'serverless:write')
  const planId = (await keyedDigest(env.KEY_PEPPER, `spend-stop\n${principal.teamId}\n${decided.facts}`)).slice(0, PLAN_ID_LENGTH)
  return { ...decided, planId, formerWorkers: new Map(configs.map(({ id, row }) => [id, row.workers])) }
}
