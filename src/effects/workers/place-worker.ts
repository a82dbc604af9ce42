import { readBudgets } from '../../db/accounts/budgets.ts'
import { openDatabase } from '../../db/client.ts'
import {
  type Allocation,
  findAllocation,
  listPlacementHosts,
  type Reservation,
  releaseCapacity,
  reserveCapacity,
} from '../../db/hosts/capacity.ts'
import { addCapacityWaiter } from '../../db/hosts/capacity-waiters.ts'
import { workerRates } from '../../domain/billing/worker-rates.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { countConstraints } from '../../domain/host/constraint-text.ts'
import { type Candidate, type ComputeShape, type PlacementRequest, rankHosts, type UnfitHost } from '../../domain/host/placement.ts'
import { totalNanos } from '../../domain/money.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { findSpendRefusal, spendDemand } from '../billing/spend.ts'
import { freeCapacity } from '../capacity.ts'
import { loadCatalog } from '../catalog.ts'
import { grantLog } from '../log-access.ts'
import { makeRoom } from '../make-room.ts'
import { payerOf } from '../payer.ts'
import { noteUnknownSecrets } from '../pods/pod-notes.ts'
import { type PullLogin, pullWith } from '../registry-login.ts'
import { fillEnv } from '../secret-env.ts'
import { workerWorkload } from './worker-spec.ts'
import { issueWorkerToken } from './worker-token.ts'

export interface WorkerPlacement {
  config: EndpointConfig
  workerId: string
  boot: string
  pingIntervalMs: number
  /** A job waits for this worker, so idle workers of others may have to go (PP-181). */
  isForJob: boolean
  /** Workers of the endpoint whose room will soon be free. */
  leavingIds: readonly string[]
}

/** One whose secrets are filled in and whose login is known. */
type FilledPlacement = WorkerPlacement & { login: PullLogin | null }

export type Placed =
  | { ok: true; hostId: string; gpuTypeId: string | null; dataCenterId: string }
  | { ok: false; reason: string /** This worker must not be placed again, only removed. */; abandon?: boolean }

/** Hosts tried for one worker before it waits for its next attempt; each try costs a batch. */
const MAX_TRIES = 5
/** Constraints that a worker without a host names. */
const MAX_CONSTRAINTS = 4

/**
 * Finds a host for a worker, reserves its capacity and hands the workload to the host. Repeating it after a crash in the middle finds
 * the first reservation and continues from there. The worker gets the secrets of this moment (ACC-6).
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
    const log = { kind: 'worker', id: given.workerId, ownerId: config.id, start: 1 } as const
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
    await addCapacityWaiter(db, placement.config.id, Date.now())
    return { ok: false, reason: poor }
  }
  const hosts = await listPlacementHosts(db)
  const { candidates, refusals } = rankHosts(request, hosts)
  for (const candidate of candidates.slice(0, MAX_TRIES)) {
    const rates = workerRates(catalog, candidate.shape, request.diskGb)
    if (!(await reserve(env, placement, candidate, { rates, diskGb: request.diskGb }))) continue
    const placed = await assign(env, placement, candidate)
    if (placed.ok) return placed
    await releaseCapacity(db, placement.workerId, candidate.hostId, Date.now())
  }
  // Capacity that appeared since the hosts were read is found by the next attempt, which the waiter makes anyway.
  await addCapacityWaiter(db, placement.config.id, Date.now())
  const lost = async () => (await spentGpus(env, placement.config)) ?? (await refuseSpend(env, catalog, placement.config, request))
  const spent = candidates.length > 0 ? await lost() : null
  if (spent !== null) return { ok: false, reason: spent }
  const reason = explainRefusals(refusals, candidates.length > 0)
  const held = candidates.length > 0 ? null : await makeRoom(env, placement, request, hosts)
  return { ok: false, reason: held === null ? reason : `${reason}; ${held}` }
}

// Why the account may have none of the workers that its endpoint takes (BIL-26); null: it may have the cheapest.
async function refuseSpend(env: Env, catalog: Catalog, { teamId }: EndpointConfig, request: PlacementRequest): Promise<string | null> {
  const nanos = request.shapes.map((shape) => totalNanos(workerRates(catalog, shape, request.diskGb)))
  const refusal = nanos.length > 0 ? await findSpendRefusal(env, teamId, Math.min(...nanos), Date.now()) : null
  return refusal?.detail ?? null
}

// Why hosts with room were of no use: the account holds as many GPUs as it may.
async function spentGpus(env: Env, { teamId, compute }: EndpointConfig): Promise<string | null> {
  const { gpus } = await readBudgets(openDatabase(env.DB), teamId, ['gpus'])
  const wanted = compute.kind === 'gpu' ? compute.count : 0
  return gpus.used + wanted > gpus.bound ? `no capacity: ${gpus.used} of the ${gpus.bound} GPUs that the account may hold are in use` : null
}

function reserve(
  env: Env,
  { config, workerId }: WorkerPlacement,
  { hostId, dataCenterId, shape }: Candidate,
  held: Pick<Reservation, 'rates' | 'diskGb'>,
): Promise<boolean> {
  const spend = spendDemand(env, totalNanos(held.rates))
  const whose = { id: workerId, teamId: config.teamId, ownerId: config.id, volumeId: config.volumeAt?.[dataCenterId] }
  const want = { ...whose, hostId, kind: 'worker' as const, ...shape, ...held, spend }
  return reserveCapacity(openDatabase(env.DB), want, Date.now())
}

async function assign(env: Env, placement: FilledPlacement, candidate: Candidate): Promise<Placed> {
  const { config, workerId, boot, pingIntervalMs, login } = placement
  const token = await issueWorkerToken(env, config.id, workerId)
  const identity = { workerId, boot, token, pingIntervalMs, dataCenterId: candidate.dataCenterId }
  const log = await grantLog(env, candidate.hostId, { kind: 'worker', ownerId: config.id, workloadId: workerId })
  const payer = await payerOf(env, config.teamId, Date.now())
  const workload = {
    ...workerWorkload(config, identity, candidate.shape),
    ...(payer !== config.teamId && { payer }),
    log,
    ...(login && { registryAuth: login }),
  }
  const taken = await hostStub(env, asPlane('host', candidate.hostId, 'places work')).assign(candidate.hostId, workload, config.id)
  if (!taken) return { ok: false, reason: 'no capacity: the host that has room does not answer at the moment' }
  return { ok: true, hostId: candidate.hostId, gpuTypeId: candidate.shape.gpu?.typeId ?? null, dataCenterId: candidate.dataCenterId }
}

// A crash came between the reservation and its record. The same worker must not be started on a second host.
async function resume(env: Env, placement: FilledPlacement, existing: Allocation, shapes: readonly ComputeShape[]): Promise<Placed> {
  const shape = shapes.find((s) => (s.gpu?.typeId ?? null) === existing.gpuTypeId && s.vcpus === existing.vcpus)
  if (shape && (await hostStub(env, asPlane('host', existing.hostId, 'places work')).knows(placement.workerId)))
    return assign(env, placement, { hostId: existing.hostId, dataCenterId: existing.dataCenterId, shape })
  // Whether the first host was told cannot be known, so this worker and its boot nonce are given up (LSE-6); another takes its place.
  return { ok: false, reason: 'its placement was interrupted', abandon: true }
}

// Host ids are the operator's business, so a tenant reads counts and constraints, never which machine.
function explainRefusals(refusals: readonly UnfitHost[], lostRaces: boolean): string {
  if (lostRaces) return 'no capacity: other workloads took the last free place, or the host that has it does not answer'
  if (refusals.length === 0) return 'no capacity: no host is online'
  const constraints = countConstraints(refusals, MAX_CONSTRAINTS).join('; ')
  return `no capacity: none of ${refusals.length} online host${refusals.length === 1 ? '' : 's'} fits (${constraints})`
}

/** Asks the host of a workload to stop it. 'none': nothing of it exists anywhere. 'requested': the host reports `gone` when it is. */
export async function removeWorker(env: Env, workerId: string, graceMs: number): Promise<'none' | 'requested'> {
  const db = openDatabase(env.DB)
  const allocation = await findAllocation(db, workerId)
  if (!allocation) return 'none'
  const known = await hostStub(env, asPlane('host', allocation.hostId, 'places work')).stop(workerId, graceMs)
  if (known) return 'requested'
  await freeCapacity(env, workerId, allocation.hostId)
  return 'none'
}
