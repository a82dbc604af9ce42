import type { DataCenter as ShownDataCenter } from '../../contract/catalog/catalog.ts'
import type { DataCenterListQuery, DataCenterQuery } from '../../contract/catalog/query.ts'
import { CLOUDS } from '../../contract/enums.ts'
import { cpuPodPlacer, findRoom, gpuPodPlacer, levelOf } from '../../domain/availability.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { DataCenter } from '../../domain/catalog/data-centers.ts'
import { isWanted } from '../../domain/catalog/query.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { loadFleet } from '../../effects/placement/fleet.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { listDataCenters } from './fleet.ts'
import { groupByType } from './gpus.ts'

/** Returns the data centers that match the query (CAT-5). */
export async function listShownDataCenters(ctx: VerbContext, query: DataCenterListQuery): Promise<ShownDataCenter[]> {
  const catalog = await loadCatalog(ctx.env)
  const wanted = (await listDataCenters(ctx, catalog)).filter((dataCenter) => isWanted(dataCenter, query))
  const show = await viewer(ctx, catalog, query)
  return wanted.map(show)
}

/** Returns one data center. Throws 404. */
export async function getShownDataCenter(ctx: VerbContext, id: string, query: DataCenterQuery): Promise<ShownDataCenter> {
  const catalog = await loadCatalog(ctx.env)
  const found = orNotFound((await listDataCenters(ctx, catalog)).find((dataCenter) => dataCenter.id === id))
  return (await viewer(ctx, catalog, query))(found)
}

async function viewer(
  ctx: VerbContext,
  catalog: Catalog,
  { include = [] }: DataCenterQuery,
): Promise<(dataCenter: DataCenter) => ShownDataCenter> {
  if (include.length === 0) return toDataCenter
  const hosts = Map.groupBy(await loadFleet(ctx), ({ dataCenterId }) => dataCenterId)
  const { teamId } = ctx.principal
  return (dataCenter) => {
    const here = hosts.get(dataCenter.id) ?? []
    return {
      ...toDataCenter(dataCenter),
      ...(include.includes('GPU_AVAILABILITY') && { gpuAvailability: gpusOf(catalog, teamId, here) }),
      ...(include.includes('CPU_AVAILABILITY') && { cpuAvailability: here.length > 0 ? cpusOf(catalog, teamId, here) : [] }),
    }
  }
}

// The query names no cloud, so the offers of both count.
function gpusOf(catalog: Catalog, teamId: string, hosts: readonly PlacementHost[]) {
  const byType = groupByType(hosts)
  return catalog.gpuTypes.flatMap(({ id, name }) => {
    const offering = byType.get(id)
    if (!offering) return []
    const asked = { teamId, typeId: id, count: 1, cudaVersions: [], minCudaVersion: null }
    const rooms = CLOUDS.map((cloud) => findRoom(gpuPodPlacer(catalog, { ...asked, cloud }), offering, id))
    return [{ id, name, availability: levelOf(rooms.reduce((sum, { placements }) => sum + placements, 0)) }]
  })
}

function cpusOf(catalog: Catalog, teamId: string, hosts: readonly PlacementHost[]) {
  return catalog.cpuFlavors.map(({ id, name, minVcpu }) => {
    const room = findRoom(cpuPodPlacer(catalog, teamId, id, minVcpu), hosts, null)
    return { id, name, availability: levelOf(room.placements) }
  })
}

function toDataCenter({ id, name, region, globalNetwork, networkVolumeTypes, compliance }: DataCenter): ShownDataCenter {
  return { id, name, region, globalNetwork, networkVolumeTypes: [...networkVolumeTypes], compliance: [...compliance] }
}
