import { openDatabase, openRecords } from '../db/client.ts'
import { findEndpointConfig } from '../db/endpoints/endpoint-config.ts'
import { listWorkersOn } from '../db/hosts/host-cordon.ts'
import { listPlacementHosts } from '../db/hosts/placement-hosts.ts'
import { listPodsOfHost, listStoppedPodsOn } from '../db/pods/find-pods.ts'
import type { PodRow } from '../db/pods/pods.ts'
import type { Catalog } from '../domain/catalog/catalog.ts'
import type { Departure, LeavingEndpoint, LeavingPod } from '../domain/plan/departure.ts'
import { placementRequestOf } from '../domain/worker/shape.ts'
import { type Env, readSettings } from '../env.ts'
import { asPlane } from '../objects/ownership/as-plane.ts'
import { endpointStub } from '../objects/stubs.ts'
import { mapAtOnce } from '../platform/at-once.ts'
import { loadCatalog } from './catalog.ts'
import { isReplaceable } from './pods/pod-hosts.ts'

/** Stopped pods that are listed: their number has no limit. */
const MAX_STOPPED = 1_000

/** Returns what a host runs and where it could move: the input of a drain, read before any change (DRY-4). */
export async function readDeparture(env: Env, hostId: string): Promise<Departure> {
  const db = openDatabase(env.DB)
  const [rows, stopped, workers, hosts, catalog] = await Promise.all([
    listPodsOfHost(openRecords(env), hostId),
    listStoppedPodsOn(db, hostId, MAX_STOPPED),
    listWorkersOn(db, hostId),
    listPlacementHosts(db),
    loadCatalog(env),
  ])
  return {
    pods: rows.map(leavingPod),
    stopped,
    endpoints: await askEndpoints(env, catalog, [...workers]),
    others: hosts.filter(({ id }) => id !== hostId),
    strategy: readSettings(env).placementStrategy,
  }
}

// A cluster member stays in the data center of its cluster (CLU-25).
function leavingPod(row: PodRow): LeavingPod {
  if (row.clusterId === null) return { ...row, isReplaceable: isReplaceable(row) }
  return { ...row, spec: { ...row.spec, dataCenterIds: [row.dataCenterId] }, isReplaceable: row.spec.onHostLoss === 'REPLACE' }
}

async function askEndpoints(env: Env, catalog: Catalog, owners: readonly [string, string[]][]): Promise<LeavingEndpoint[]> {
  const asked = await mapAtOnce(owners, ([id, workerIds]) => askEndpoint(env, catalog, id, workerIds))
  return asked.filter((one) => one !== null)
}

// The workers of a deleted endpoint are already on their way out.
async function askEndpoint(env: Env, catalog: Catalog, id: string, workerIds: readonly string[]): Promise<LeavingEndpoint | null> {
  const config = await findEndpointConfig(openRecords(env), id)
  if (!config) return null
  const { workers } = await endpointStub(env, asPlane('endpoint', id, 'previews a change of a host')).impact()
  const here = workers.filter((worker) => workerIds.includes(worker.id))
  return { id, name: config.name, teamId: config.teamId, request: placementRequestOf(catalog, config), workers: here }
}
