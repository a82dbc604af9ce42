import { readBudgets } from '../../db/accounts/budgets.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import {
  type Allocation,
  findAllocation,
  type Reservation,
  type ReservationRefusal,
  releaseCapacity,
  reserveCapacity,
} from '../../db/hosts/capacity.ts'
import { addCapacityWaiter } from '../../db/hosts/capacity-waiters.ts'
import { listPlacementHosts } from '../../db/hosts/placement-hosts.ts'
import { workerRates } from '../../domain/billing/worker-rates.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { countConstraints } from '../../domain/host/constraint-text.ts'
import { classesOfRequest } from '../../domain/host/openings.ts'
import {
  type Candidate,
  type ComputeShape,
  type PlacementHost,
  type PlacementRequest,
  rankHosts,
  type UnfitHost,
} from '../../domain/host/placement.ts'
import { totalNanos } from '../../domain/money.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { findSpendRefusal, spendDemand } from '../billing/spend.ts'
import { freeCapacity } from '../capacity.ts'
import { loadCatalog } from '../catalog.ts'
import { grantLog } from '../log-access.ts'
import { payerOf } from '../payer.ts'
import { fleetReader, loadFleet, rankFleet } from '../placement/fleet.ts'
import { searchHosts } from '../placement/search.ts'
import { noteUnknownSecrets } from '../pods/pod-notes.ts'
import { preemptFor } from '../preempt.ts'
import { type PullLogin, pullWith } from '../registry-login.ts'
import { fillEnv } from '../secret-env.ts'
import { type WorkerIdentity, workerWorkload } from './worker-spec.ts'
import { issueWorkerToken } from './worker-token.ts'

/** A worker that needs a host. */
export interface WorkerPlacement extends Pick<WorkerIdentity, 'workerId' | 'boot' | 'pingIntervalMs'> {
  config: EndpointConfig
  /** A job waits for this worker, so idle workers of others may be preempted (PREEMPT-2). */
  isForJob: boolean
  /** Workers of the endpoint whose capacity will be free soon. */
  leavingIds: readonly string[]
}

/** A placement with filled-in secrets and the registry login. */
type FilledPlacement = WorkerPlacement & { login: PullLogin | null }

/** The host of a placed worker, or the reason why it has none. */
export type Placed =
  | { ok: true; hostId: string; gpuTypeId: string | null; dataCenterId: string }
  | { ok: false; reason: string /** This worker must not be placed again, only removed. */; abandon?: boolean }

/** Hosts tried for one worker before it waits for its next attempt; each try costs one batch. */
const MAX_TRIES = 5
/** Maximum number of constraints in the reason why a worker has no host. */
const MAX_CONSTRAINTS = 4

/**
 * Finds a host for a worker, reserves its capacity and hands the workload to the host. A repeated call after a crash finds the first
 * reservation and continues from there. The worker gets the present secrets (ACC-6).
 */
export async function placeWorker(env: Env, given: WorkerPlacement): Promise<Placed> {
  const { config } = given
  const filled = await fillEnv(env, config.teamId, config.container)
  if (!filled.ok) return filled
  const pull = await pullWith(env, config.teamId, config.container)
  if (!pull.ok) return pull
  const placement = { ...given, config: { ...config, container: { ...config.container, env: filled.env } }, login: pull.login }
  const placed = await placeFilled(env, placement)
  if (placed.ok) {
    const log = { kind: 'worker', id: given.workerId, ownerId: config.id, start: 1, dataCenterId: placed.dataCenterId } as const
    await noteUnknownSecrets(env, log, filled.unknown)
  }
  return placed
}

async function placeFilled(env: Env, placement: FilledPlacement): Promise<Placed> {
  const db = openDatabase(env.DB)
  const catalog = await loadCatalog(env)
  const request = placementRequestOf(catalog, placement.config)
  const existing = await findAllocation(db, placement.workerId)
  if (existing) return resume(env, placement, existing, request.shapes)
  const poor = await refuseSpend(env, catalog, placement.config, request)
  if (poor !== null) {
    // No request: an endpoint's object places workers. Each step reads the clock, because steps wait for hosts.
    await addCapacityWaiter(db, placement.config.id, Date.now())
    return { ok: false, reason: poor }
  }
  const found = await findCandidates(db, request)
  const fleet =
    found.length > 0
      ? null
      : await rankFleet(
          () => loadFleet({ env, nowMs: Date.now() }),
          (hosts) => rankHosts(request, hosts),
        )
  const candidates = fleet?.candidates ?? found
  const refused = new Set<ReservationRefusal>()
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    const rates = workerRates(catalog, candidate.shape, request.diskGb)
    const outcome = await reserve(env, placement, candidate, { rates, diskGb: request.diskGb })
    if (outcome !== 'done') refused.add(outcome)
    // Every candidate has as many GPUs, but not the same price.
    if (outcome === 'gpus' || outcome === 'inactive') break
    if (outcome !== 'done') continue
    const placed = await assign(env, placement, candidate)
    if (placed.ok) return placed
    // The charge that began with the reservation ends after the host has refused.
    await releaseCapacity(db, placement.workerId, candidate.hostId, Date.now())
  }
  // The next attempt, which the waiter makes anyway, finds capacity that became free after the hosts were read.
  await addCapacityWaiter(db, placement.config.id, Date.now())
  const spent =
    (refused.has('gpus') ? await spentGpus(env, placement.config) : null) ??
    (refused.has('spend') ? await refuseSpend(env, catalog, placement.config, request) : null)
  if (spent !== null) return { ok: false, reason: spent }
  const reason = explainRefusals(fleet?.refusals ?? [], candidates.length > 0)
  const held = fleet && candidates.length === 0 ? await preemptFor(env, placement, request, fleet.hosts) : null
  return { ok: false, reason: held === null ? reason : `${reason}; ${held}` }
}

async function findCandidates(db: Database, request: PlacementRequest): Promise<Candidate[]> {
  const judge = (rank: number, hosts: readonly PlacementHost[]) =>
    rankHosts({ ...request, shapes: request.shapes.slice(rank, rank + 1) }, hosts).candidates
  const reader = fleetReader(db, 'pack', { teamId: request.teamId, sharesDisk: false })
  const found = await searchHosts(reader, { classes: classesOfRequest(request), strategy: 'pack', judge }, MAX_TRIES)
  return found ?? rankHosts(request, await listPlacementHosts(db)).candidates
}

// Returns why the account may start none of the workers that its endpoint accepts (BIL-26); null: it may start the cheapest. Reads the clock,
// because the cost of the month grows between two calls.
async function refuseSpend(env: Env, catalog: Catalog, { teamId }: EndpointConfig, request: PlacementRequest): Promise<string | null> {
  const nanos = request.shapes.map((shape) => totalNanos(workerRates(catalog, shape, request.diskGb)))
  const refusal = nanos.length > 0 ? await findSpendRefusal(env, teamId, Math.min(...nanos), Date.now()) : null
  return refusal?.detail ?? null
}

// Returns why hosts with room could not be used: the account has reached its limit of GPUs; null: it has not.
async function spentGpus(env: Env, { teamId, compute }: EndpointConfig): Promise<string | null> {
  const { gpus } = await readBudgets(openDatabase(env.DB), teamId, ['gpus'])
  const wanted = compute.kind === 'gpu' ? compute.count : 0
  return gpus.used + wanted > gpus.bound ? `no capacity: ${gpus.used} of the ${gpus.bound} GPUs in the account's budget are in use` : null
}

function reserve(
  env: Env,
  { config, workerId }: WorkerPlacement,
  { hostId, dataCenterId, shape }: Candidate,
  held: Pick<Reservation, 'rates' | 'diskGb'>,
): Promise<'done' | ReservationRefusal> {
  const spend = spendDemand(env, totalNanos(held.rates))
  const whose = { id: workerId, teamId: config.teamId, ownerId: config.id, volumeId: config.volumeAt?.[dataCenterId] }
  const reservation = { ...whose, hostId, kind: 'worker' as const, ...shape, ...held, spend }
  // The charge begins with the reservation of this host, which follows tries on others.
  return reserveCapacity(openDatabase(env.DB), reservation, Date.now())
}

async function assign(env: Env, placement: FilledPlacement, candidate: Candidate): Promise<Placed> {
  const { config, workerId, boot, pingIntervalMs, login } = placement
  const token = await issueWorkerToken(env, config.id, workerId)
  const identity = { workerId, boot, token, pingIntervalMs, dataCenterId: candidate.dataCenterId }
  const log = await grantLog(env, candidate.hostId, { kind: 'worker', ownerId: config.id, workloadId: workerId })
  // The cache of payers counts by the clock of the isolate.
  const payer = await payerOf(env, config.teamId, Date.now())
  const workload = {
    ...workerWorkload(config, identity, candidate.shape),
    ...(payer !== config.teamId && { payer }),
    log,
    ...(login && { registryAuth: login }),
  }
  const taken = await hostStub(env, asPlane('host', candidate.hostId, 'places a workload')).assign(candidate.hostId, workload, config.id)
  if (!taken) return { ok: false, reason: 'no capacity: the host with free capacity does not respond' }
  return { ok: true, hostId: candidate.hostId, gpuTypeId: candidate.shape.gpu?.typeId ?? null, dataCenterId: candidate.dataCenterId }
}

// Continues after a crash between the reservation and its record. The same worker must not start on a second host.
async function resume(env: Env, placement: FilledPlacement, existing: Allocation, shapes: readonly ComputeShape[]): Promise<Placed> {
  const shape = shapes.find((s) => (s.gpu?.typeId ?? null) === existing.gpuTypeId && s.vcpus === existing.vcpus)
  if (shape && (await hostStub(env, asPlane('host', existing.hostId, 'places a workload')).knows(placement.workerId)))
    return assign(env, placement, { hostId: existing.hostId, dataCenterId: existing.dataCenterId, shape })
  // Whether the first host received the worker is unknown, so this worker and its boot nonce are given up (LSE-6); another one replaces it.
  return { ok: false, reason: 'its placement was interrupted', abandon: true }
}

// Host ids are visible to the operator only, so a tenant reads counts and constraints and not the names of hosts.
function explainRefusals(refusals: readonly UnfitHost[], lostRaces: boolean): string {
  if (lostRaces) return 'no capacity: other workloads took the last free capacity, or its host does not respond'
  if (refusals.length === 0) return 'no capacity: no host is online'
  const constraints = countConstraints(refusals, MAX_CONSTRAINTS).join('; ')
  return `no capacity: none of ${refusals.length} online host${refusals.length === 1 ? '' : 's'} fits (${constraints})`
}

/**
 * Asks the host of a workload to stop it. 'none': the workload does not exist on any host. 'requested': the host reports `gone` after the
 * stop.
 */
export async function removeWorker(env: Env, workerId: string, graceMs: number): Promise<'none' | 'requested'> {
  const db = openDatabase(env.DB)
  const allocation = await findAllocation(db, workerId)
  if (!allocation) return 'none'
  const known = await hostStub(env, asPlane('host', allocation.hostId, 'places a workload')).stop(workerId, graceMs)
  if (known) return 'requested'
  await freeCapacity(env, workerId, allocation.hostId)
  return 'none'
}
