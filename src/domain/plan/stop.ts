import type { SpendStopPlan } from '../../contract/billing/stops.ts'
import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { PodStatus } from '../../contract/enums.ts'
import type { EndpointImpact } from '../endpoint/impact.ts'
import { usdOfNanos } from '../money.ts'
import { actionsOf } from '../pod/pod.ts'
import { effect, jobsEffect } from './effect.ts'

// Plans a stop of spending: which resources it stops, and which go on. Pure; it uses the same tables that decide the actions themselves.

/** The facts of a pod that a stop depends on. */
export interface StoppablePod {
  id: string
  name: string
  clusterId: string | null
  clusterName: string | null
  version: number
  status: PodStatus
  locked: boolean
  isToRun: boolean
  nanosPerHour: number
  stoppedNanosPerHour: number
  /** Since when its host reports it idle; null: it is busy, its activity is unknown, or the caller did not ask for it. */
  idleSinceMs: number | null
}

/** The bounds of an endpoint's number of workers. */
export interface WorkerBounds {
  min: number
  max: number
}

/** An endpoint that has workers, or that the request names. */
export interface StoppableEndpoint extends Pick<StoppablePod, 'id' | 'name' | 'nanosPerHour'> {
  revision: number
  workers: WorkerBounds
  impact: EndpointImpact
}

/** The resources of an account that cost money. */
export interface Stoppable {
  pods: readonly StoppablePod[]
  endpoints: readonly StoppableEndpoint[]
  volumes: readonly { id: string; name: string; nanosPerHour: number }[]
}

/** The resources that a stop applies to. */
export interface StopSelection {
  /** Only these; null: everything that runs. */
  ids: readonly string[] | null
  /** Only resources that have been idle for this long, in milliseconds; null: busy ones too. */
  idleForMs: number | null
  nowMs: number
}

type Thing = Pick<SpendStopPlan['stays'][number], 'kind' | 'id' | 'name'>
type Fate = { thing: Thing; version: number; nanos: number } & (
  | { stops: true; savesNanos: number; effects: ChangeEffect[]; workers: WorkerBounds | null }
  | { stops: false; reason: string }
)

/** A stop of spending as it was decided, before it is carried out. */
export interface DecidedStop extends Omit<SpendStopPlan, 'planId'> {
  savedNanosPerHour: number
  /** The new bounds of endpoints, by id. */
  stoppedWorkers: ReadonlyMap<string, WorkerBounds>
  /** The contents of the plan as text: equal for equal plans. */
  facts: string
}

const SECOND_MS = 1000
const NO_MEMBER = 'the members of a cluster are not stopped: delete the cluster to end its cost'

/** No workers at all: running jobs finish, and no job starts. */
const PAUSED: WorkerBounds = { min: 0, max: 0 }

/** The resources that are stopped and those that stay (SPD-10, SPD-8). At most `most` are stopped. */
export function decideSpendStop({ pods, endpoints, volumes }: Stoppable, selection: StopSelection, most: number): DecidedStop {
  const { ids } = selection
  const isNamed = (id: string) => ids === null || ids.includes(id)
  const alone = pods.filter(({ clusterId }) => clusterId === null)
  const found = [...alone.map((pod) => ofPod(pod, selection)), ...endpoints.map((endpoint) => ofEndpoint(endpoint, selection))]
  const named = found.map((fate) => (isNamed(fate.thing.id) ? fate : stay(fate, 'it was not named')))
  const fates = bounded([...named, ...ofClusters(pods), ...volumes.map(ofVolume)], most)
  const stops = fates.filter((fate) => fate.stops)
  const stays = fates.filter((fate) => !fate.stops).filter(({ nanos, thing }) => nanos > 0 || (ids?.includes(thing.id) ?? false))
  const total = fates.reduce((sum, { nanos }) => sum + nanos, 0)
  const savedNanosPerHour = stops.reduce((sum, { savesNanos }) => sum + savesNanos, 0)
  return {
    perHour: usdOfNanos(total),
    remainingPerHour: usdOfNanos(total - savedNanosPerHour),
    stops: stops.map(({ thing, nanos, savesNanos }) => ({ ...thing, perHour: usdOfNanos(nanos), savesPerHour: usdOfNanos(savesNanos) })),
    stays: stays.map(({ thing, nanos, reason }) => ({ ...thing, perHour: usdOfNanos(nanos), reason })),
    effects: stops.flatMap(({ effects }) => effects),
    savedNanosPerHour,
    stoppedWorkers: new Map(stops.flatMap(({ thing, workers }) => (workers === null ? [] : [[thing.id, workers]]))),
    facts: JSON.stringify(stops.map(({ thing, version, workers }) => [thing.kind, thing.id, version, workers])),
  }
}

function ofPod(pod: StoppablePod, selection: StopSelection): Fate {
  const { id, name, version, nanosPerHour: nanos, stoppedNanosPerHour } = pod
  const base = { thing: { kind: 'POD' as const, id, name }, version, nanos }
  if (!pod.isToRun) return { ...base, stops: false, reason: 'it is stopped: its disks are kept' }
  if (!actionsOf(pod).includes('stop')) {
    return { ...base, stops: false, reason: pod.locked ? 'pod is locked' : `action stop is not valid while the pod is ${pod.status}` }
  }
  if (!isIdle([pod.idleSinceMs], selection)) return { ...base, stops: false, reason: notIdle(selection) }
  const resource: ChangedResource = { kind: 'pod', id, name }
  const kept = stoppedNanosPerHour > 0 ? [effect(resource, 'STAYS', 'INFO', 'its disks are kept and still cost money')] : []
  const effects = [effect(resource, 'STOPS', 'WARNING', 'its container is stopped, and its ports close'), ...kept]
  return { ...base, stops: true, savesNanos: nanos - stoppedNanosPerHour, effects, workers: null }
}

function ofEndpoint(endpoint: StoppableEndpoint, selection: StopSelection): Fate {
  const { id, name, revision, workers, nanosPerHour: nanos, impact } = endpoint
  const base = { thing: { kind: 'ENDPOINT' as const, id, name }, version: revision, nanos }
  if (workers.max === 0)
    return { ...base, stops: false, reason: 'its workers.max is already 0: the remaining workers finish their jobs and stop' }
  const resource: ChangedResource = { kind: 'endpoint', id, name }
  if (selection.idleForMs !== null) return { ...base, ...idleFate(resource, endpoint, selection) }
  const effects = [
    effect(resource, 'CHANGES', 'WARNING', `its workers are limited to 0 instead of ${workers.min} to ${workers.max}: no new job starts`),
    ...jobsEffect(resource, 'FINISHES', 'INFO', impact.running, ['that runs is finished first', 'that run are finished first']),
    ...(impact.queued > 0 ? [{ ...effect(resource, 'WAITS', 'WARNING', 'queued jobs keep waiting'), amount: impact.queued }] : []),
  ]
  return { ...base, stops: true, savesNanos: nanos, effects, workers: PAUSED }
}

type Ending = { stops: true; savesNanos: number; effects: ChangeEffect[]; workers: WorkerBounds } | { stops: false; reason: string }

/** An idle endpoint still takes jobs; only its minimum number of workers becomes 0 (SPD-8). */
function idleFate(resource: ChangedResource, { workers, nanosPerHour, impact }: StoppableEndpoint, selection: StopSelection): Ending {
  const since = impact.workers.map(({ idleSinceMs }) => idleSinceMs)
  if (impact.queued + impact.running > 0 || since.length === 0 || !isIdle(since, selection))
    return { stops: false, reason: notIdle(selection) }
  if (workers.min === 0) return { stops: false, reason: 'its idle workers stop by themselves' }
  const text = `workers.min becomes 0 instead of ${workers.min}: idle workers stop, and a new job starts a worker again`
  return {
    stops: true,
    savesNanos: nanosPerHour,
    effects: [effect(resource, 'CHANGES', 'WARNING', text)],
    workers: { min: 0, max: workers.max },
  }
}

/** Whether all of these have been idle for the requested time. */
function isIdle(sinceMs: readonly (number | null)[], { idleForMs, nowMs }: StopSelection): boolean {
  return idleForMs === null || sinceMs.every((ms) => ms !== null && ms <= nowMs - idleForMs)
}

function notIdle({ idleForMs }: StopSelection): string {
  const seconds = (idleForMs ?? 0) / SECOND_MS
  const time = seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
  return `it has no known idle time of ${time}`
}

function ofVolume({ id, name, nanosPerHour }: Stoppable['volumes'][number]): Fate {
  const thing = { kind: 'NETWORK_VOLUME' as const, id, name }
  return { thing, version: 0, nanos: nanosPerHour, stops: false, reason: 'it keeps its data and costs money until it is deleted' }
}

function ofClusters(pods: readonly StoppablePod[]): Fate[] {
  const members = Map.groupBy(
    pods.filter(({ clusterId }) => clusterId !== null),
    ({ clusterId }) => clusterId as string,
  )
  return [...members].map(([id, of]) => {
    const thing = { kind: 'CLUSTER' as const, id, name: of[0]?.clusterName ?? id }
    return { thing, version: 0, nanos: of.reduce((sum, { nanosPerHour }) => sum + nanosPerHour, 0), stops: false, reason: NO_MEMBER }
  })
}

function stay({ thing, version, nanos, ...fate }: Fate, reason: string): Fate {
  return { thing, version, nanos, stops: false, reason: 'reason' in fate ? fate.reason : reason }
}

// The most expensive first, so that the cheapest are left for a second stop.
function bounded(fates: readonly Fate[], most: number): Fate[] {
  const order = fates.toSorted((a, b) => b.nanos - a.nanos || (a.thing.id < b.thing.id ? -1 : 1))
  let left = most
  return order.map((fate) => {
    if (!fate.stops) return fate
    left -= 1
    return left >= 0 ? fate : stay(fate, `one stop ends at most ${most} things: stop again`)
  })
}
