import type { CpuType } from '../../contract/catalog/catalog.ts'
import type { CpuCatalogQuery } from '../../contract/catalog/query.ts'
import { problemOf } from '../../contract/problems.ts'
import { bestRoom, cpuPodPlacer, cpuWorkerPlacer, findRoom, levelOf } from '../../domain/availability.ts'
import { type Catalog, type CpuFlavor, findCpuFlavor } from '../../domain/catalog/catalog.ts'
import { refuseQuery } from '../../domain/catalog/query.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { loadFleet } from '../../effects/placement/fleet.ts'
import type { VerbContext } from '../context.ts'
import { orNotFound } from '../or-not-found.ts'
import { availabilityByDataCenter } from './availability.ts'
import { listDataCenters } from './fleet.ts'

/** Returns the CPU flavors (CAT-4). Throws 400. */
export async function listCpuTypes(ctx: VerbContext, query: CpuCatalogQuery): Promise<CpuType[]> {
  const { catalog, show } = await viewer(ctx, query)
  return catalog.cpuFlavors.map(show)
}

/** Returns one CPU flavor. Throws 404, then 400. */
export async function getCpuType(ctx: VerbContext, id: string, query: CpuCatalogQuery): Promise<CpuType> {
  const flavor = orNotFound(findCpuFlavor(await loadCatalog(ctx.env), id))
  return (await viewer(ctx, query)).show(flavor)
}

async function viewer(ctx: VerbContext, query: CpuCatalogQuery): Promise<{ catalog: Catalog; show: (flavor: CpuFlavor) => CpuType }> {
  const refusal = refuseQuery(query)
  if (refusal) throw problemOf(refusal)
  const catalog = await loadCatalog(ctx.env)
  if (!query.include) return { catalog, show: toCpuType }
  const [hosts, dataCenters] = await Promise.all([loadFleet(ctx), listDataCenters(ctx, catalog)])
  const { teamId } = ctx.principal
  const { product = [], vcpuCount } = query
  const show = (flavor: CpuFlavor) => {
    const size = vcpuCount ?? flavor.minVcpu
    const placers = [
      product.includes('POD') ? cpuPodPlacer(catalog, teamId, flavor.id, size) : null,
      product.includes('SERVERLESS') ? cpuWorkerPlacer(catalog, teamId, flavor.id, size) : null,
    ]
    const room = bestRoom(placers.map((place) => findRoom(place, hosts, null)))
    return { ...toCpuType(flavor), availability: levelOf(room.placements), ...availabilityByDataCenter(room, dataCenters) }
  }
  return { catalog, show }
}

function toCpuType({ id, name, group, minVcpu, maxVcpu, ramGbPerVcpu, ...flavor }: CpuFlavor): CpuType {
  const price = {
    securePerVcpu: flavor.offered ? flavor.securePricePerVcpu : 0,
    serverlessPerVcpu: flavor.offered ? flavor.serverlessPricePerVcpu : 0,
  }
  return { id, name, group, vcpu: { min: minVcpu, max: maxVcpu }, ramGbPerVcpu, price }
}
