import type { GpuType as ShownGpuType } from '../../contract/catalog/catalog.ts'
import type { GpuCatalogQuery } from '../../contract/catalog/query.ts'
import { problemOf } from '../../contract/problems.ts'
import {
  bestRoom,
  cudaOf,
  findClusterRoom,
  findRoom,
  type GpuAsked,
  gpuPodPlacer,
  gpuWorkerPlacer,
  levelOf,
  type PodNeeds,
  type Room,
} from '../../domain/availability.ts'
import { type Catalog, findGpuType, type GpuType, podGpuPrice } from '../../domain/catalog/catalog.ts'
import type { DataCenter } from '../../domain/catalog/data-centers.ts'
import { refuseQuery } from '../../domain/catalog/query.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { loadFleet } from '../../effects/placement/fleet.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { availabilityByDataCenter } from './availability.ts'
import { listDataCenters } from './fleet.ts'

/** A REST query with the additional filters of older APIs (GQL-44). */
export type GpuOfferQuery = GpuCatalogQuery & { needs?: PodNeeds; dataCenterIds?: readonly string[] }

/** Returns the GPU types; with `countryCodes` only those that fit in these countries (CAT-1, CAT-3). Throws 400. */
export async function listGpuTypes(ctx: VerbContext, query: GpuOfferQuery): Promise<ShownGpuType[]> {
  const { catalog, show } = await viewer(ctx, query)
  const shown = catalog.gpuTypes.map(show)
  return query.countryCodes ? shown.filter(({ dataCenters }) => dataCenters !== undefined) : shown
}

/** Returns one GPU type. Throws 404, then 400. */
export async function getGpuType(ctx: VerbContext, id: string, query: GpuCatalogQuery): Promise<ShownGpuType> {
  const type = orNotFound(findGpuType(await loadCatalog(ctx.env), id))
  return (await viewer(ctx, query)).show(type)
}

/** Returns, by type, the GPU counts with which one pod fits at present (GQL-34). */
export async function listFittingCounts(ctx: VerbContext, query: GpuOfferQuery): Promise<Map<string, number[]>> {
  const catalog = await loadCatalog(ctx.env)
  const byType = groupByType((await fleetNear(ctx, catalog, query)).hosts)
  return new Map(
    catalog.gpuTypes.map((type) => {
      const offering = byType.get(type.id) ?? []
      const fits = (count: number) => {
        const place = offering.length === 0 ? null : gpuPodPlacer(catalog, askedOf(ctx, type, { ...query, count }))
        return place !== null && offering.some((host) => place(host) !== null)
      }
      return [type.id, Array.from({ length: type.maxCount }, (_, index) => index + 1).filter(fits)]
    }),
  )
}

async function viewer(ctx: VerbContext, query: GpuOfferQuery): Promise<{ catalog: Catalog; show: (type: GpuType) => ShownGpuType }> {
  const refusal = refuseQuery(query)
  if (refusal) throw problemOf(refusal)
  const catalog = await loadCatalog(ctx.env)
  if (!query.include) return { catalog, show: toGpuType }
  const { hosts, near } = await fleetNear(ctx, catalog, query)
  const byType = groupByType(hosts)
  const show = (type: GpuType) => {
    const offering = byType.get(type.id) ?? []
    const room = findGpuRoom(catalog, offering, askedOf(ctx, type, query), query.product ?? [])
    return { ...toGpuType(type), ...shownRoom(room, near, offering, type.id) }
  }
  return { catalog, show }
}

/** Returns the data centers that match the query, and their hosts. */
async function fleetNear(ctx: VerbContext, catalog: Catalog, { countryCodes, dataCenterIds }: GpuOfferQuery) {
  const [fleet, everywhere] = await Promise.all([loadFleet(ctx), listDataCenters(ctx, catalog)])
  const near = everywhere.filter(({ id, country }) => {
    const isThere = !countryCodes || (country !== null && countryCodes.includes(country))
    return isThere && (!dataCenterIds || dataCenterIds.includes(id))
  })
  const nearIds = new Set(near.map(({ id }) => id))
  return { near, hosts: fleet.filter(({ dataCenterId }) => nearIds.has(dataCenterId)) }
}

function askedOf({ principal }: VerbContext, { id }: GpuType, query: GpuOfferQuery): GpuAsked {
  const { count, cloud, cudaVersions, minCudaVersion, needs } = query
  return {
    teamId: principal.teamId,
    typeId: id,
    count: count ?? 1,
    cloud: cloud ?? 'SECURE',
    cudaVersions: cudaVersions ?? [],
    minCudaVersion: minCudaVersion ?? null,
    ...(needs && { needs }),
  }
}

// Returns the best availability of the requested products (CAT-14). For a cluster its members count.
function findGpuRoom(catalog: Catalog, hosts: readonly PlacementHost[], asked: GpuAsked, products: readonly string[]): Room {
  const placers = [
    products.includes('POD') ? gpuPodPlacer(catalog, asked) : null,
    products.includes('SERVERLESS') ? gpuWorkerPlacer(catalog, asked) : null,
  ]
  const rooms = placers.map((place) => findRoom(place, hosts, asked.typeId))
  return bestRoom(products.includes('CLUSTER') ? [...rooms, findClusterRoom(catalog, hosts, asked)] : rooms)
}

function shownRoom(room: Room, near: readonly DataCenter[], hosts: readonly PlacementHost[], typeId: string) {
  const versions = [...new Set(hosts.flatMap((host) => cudaOf(host, typeId) ?? []))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  return {
    availability: levelOf(room.placements),
    ...availabilityByDataCenter(room, near),
    ...(versions.length > 0 && { cudaVersions: versions.map((version) => ({ version, available: room.cudaVersions.has(version) })) }),
  }
}

/** Groups hosts by each GPU type that they have. */
export function groupByType(hosts: readonly PlacementHost[]): Map<string, PlacementHost[]> {
  const byType = new Map<string, PlacementHost[]>()
  for (const host of hosts) {
    for (const { typeId } of host.gpus) {
      const others = byType.get(typeId)
      if (others) others.push(host)
      else byType.set(typeId, [host])
    }
  }
  return byType
}

function toGpuType(type: GpuType): ShownGpuType {
  const [secure, community] = [podGpuPrice(type, 'SECURE'), podGpuPrice(type, 'COMMUNITY')]
  const isServerless = type.offered && type.pool !== null && type.serverlessPrice !== null
  return {
    id: type.id,
    name: type.name,
    pool: type.pool,
    manufacturer: type.manufacturer,
    memory: type.memoryGb,
    secure: secure !== null,
    community: community !== null,
    price: { secure: secure ?? 0, community: community ?? 0, ...(isServerless && { serverless: type.serverlessPrice ?? 0 }) },
    maxCount: { secure: secure === null ? 0 : type.maxCount, community: community === null ? 0 : type.maxCount },
  }
}
