import type { GpuCatalogQuery } from '../../../contract/catalog/query.ts'
import { type FlatGpuType, flatGpuType, type LowestPriceInput, lowestPrice, lowestPriceQueries } from '../../../domain/graphql/catalog.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { listGpuTypes } from '../../../services/catalog/gpus.ts'
import { type Call, once, type Resolvers } from '../call.ts'

/** The catalog, which answers without a key (GQL-3). */
export const CATALOG_RESOLVERS: Resolvers = {
  Query: { gpuTypes: async (_, { input }, call) => gpuTypes(call, input) },
  GpuType: {
    lowestPrice: async ({ id }: FlatGpuType, { input }: { input?: LowestPriceInput | null }, call) => {
      const asked = input ?? {}
      const offers = await Promise.all(lowestPriceQueries(asked).map(async (query) => ({ query, types: await offered(call, query) })))
      return lowestPrice(await loadCatalog(call.ctx.env), id, asked, offers)
    },
  },
}

async function gpuTypes(call: Call, input: { id?: string | null; ids?: (string | null)[] | null } | null | undefined) {
  const types = (await once(call, 'gpuTypes', () => listGpuTypes(call.ctx, {}))).map(flatGpuType)
  const wanted = [...(input?.id ? [input.id] : []), ...(input?.ids ?? [])]
  return input?.id || input?.ids ? types.filter(({ id }) => wanted.includes(id)) : types
}

/** What is there of every type, computed once for each thing that is asked, however many types show it. */
function offered(call: Call, query: GpuCatalogQuery) {
  return once(call, `gpuTypes ${JSON.stringify(query)}`, () => listGpuTypes(call.ctx, query))
}
