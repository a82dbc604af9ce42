import type { FlatGpuType } from '../../../domain/graphql/catalog.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { listDataCenters } from '../../../services/catalog/fleet.ts'
import { listGpuTypes } from '../../../services/catalog/gpus.ts'
import { type Call, once, type Resolvers } from '../call.ts'

/** Fields of GPU types and data centers for buyers of whole clusters (GQL-62). */
export const CLUSTER_OFFER_RESOLVERS: Resolvers = {
  Query: { countryCodes: (_source, _args, call) => countryCodes(call) },
  GpuType: {
    minPodGpuCount: () => 1,
    clusterPrice: ({ securePrice }: FlatGpuType) => securePrice,
    nodeGroupDatacenters: ({ id }: FlatGpuType, _args, call) => clusterPlaces(call, id),
  },
  LowestPrice: { countryCode: ({ input }: { input: { countryCode?: string | null } }) => input.countryCode ?? null },
  // The plane shows listed data centers only.
  DataCenter: { listed: () => true },
}

async function countryCodes({ ctx }: Call): Promise<string[]> {
  const places = await listDataCenters(ctx, await loadCatalog(ctx.env))
  return [...new Set(places.flatMap(({ country }) => country ?? []))].toSorted()
}

async function clusterPlaces(call: Call, typeId: string): Promise<{ id: string; name: string }[]> {
  const types = await once(call, 'clusters', () => listGpuTypes(call.ctx, { include: ['AVAILABILITY'], product: ['CLUSTER'] }))
  return types.find(({ id }) => id === typeId)?.dataCenters ?? []
}
