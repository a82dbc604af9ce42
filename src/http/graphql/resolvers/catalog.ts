import type { DataCenter } from '../../../contract/catalog/catalog.ts'
import {
  type FlatGpuType,
  flatCpuFlavor,
  flatCpuType,
  flatDataCenter,
  flatGpuAvailability,
  flatGpuType,
  gpuPools,
  type LowestPriceInput,
  lowestPrice,
  lowestPriceQueries,
  type PodOfferQuery,
  type SpecificsInput,
  specifics,
  specificsQuery,
} from '../../../domain/graphql/catalog.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { listCpuTypes } from '../../../services/catalog/cpus.ts'
import { listShownDataCenters } from '../../../services/catalog/data-centers.ts'
import { listFittingCounts, listGpuTypes } from '../../../services/catalog/gpus.ts'
import { type Call, once, type Resolvers } from '../call.ts'

type Price = ReturnType<typeof lowestPrice>

/** Resolvers of the catalog, which needs no key (GQL-3). */
export const CATALOG_RESOLVERS: Resolvers = {
  Query: {
    gpuTypes: (_, { input }, call) => gpuTypes(call, input),
    cpuTypes: async (_source, _args, { ctx }) => (await listCpuTypes(ctx, {})).map(flatCpuType),
    cpuFlavors: async (_, { input }, { ctx }) => {
      const flavors = (await listCpuTypes(ctx, {})).map(flatCpuFlavor)
      return input?.id ? flavors.filter(({ id }) => id === input.id) : flavors
    },
    dataCenters: async (_source, _args, { ctx }) => (await listShownDataCenters(ctx, {})).map(flatDataCenter),
    serverlessGpuPools: async (_source, _args, { ctx }) => gpuPools(await loadCatalog(ctx.env)),
  },
  GpuType: { lowestPrice: ({ id }: FlatGpuType, { input }, call) => priceOf(call, id, input ?? {}) },
  LowestPrice: {
    availableGpuCounts: (price: Price, _, call) => countsOf(call, price),
    maxUnreservedGpuCount: async (price: Price, _, call) => Math.max(0, ...(await countsOf(call, price))),
  },
  CpuFlavor: {
    specifics: async ({ id }: { id: string }, { input }: { input?: SpecificsInput | null }, call) => {
      const query = specificsQuery(input ?? {})
      const found = await once(call, `cpuTypes ${JSON.stringify(query)}`, () => listCpuTypes(call.ctx, query))
      return specifics(id, input ?? {}, found)
    },
  },
  DataCenter: {
    gpuAvailability: async ({ id }: { id: string }, _, call) =>
      flatGpuAvailability((await availability(call)).find((one) => one.id === id)),
  },
}

async function gpuTypes(call: Call, input: { id?: string | null; ids?: (string | null)[] | null } | null | undefined) {
  const types = (await listGpuTypes(call.ctx, {})).map(flatGpuType)
  const wanted = [...(input?.id ? [input.id] : []), ...(input?.ids ?? [])]
  return input?.id || input?.ids ? types.filter(({ id }) => wanted.includes(id)) : types
}

async function priceOf(call: Call, typeId: string, input: LowestPriceInput): Promise<Price> {
  const catalog = await loadCatalog(call.ctx.env)
  const offers = lowestPriceQueries(input, catalog).map(async (query) => ({ query, types: await offered(call, query) }))
  // Bounded: one query for each of two clouds.
  return lowestPrice(catalog, typeId, input, await Promise.all(offers))
}

/** Offers of all GPU types, computed once per query even if many types show it. */
function offered(call: Call, query: PodOfferQuery) {
  return once(call, `gpuTypes ${JSON.stringify(query)}`, () => listGpuTypes(call.ctx, query))
}

async function countsOf(call: Call, { gpuTypeId, input }: Price): Promise<number[]> {
  const queries = lowestPriceQueries(input, await loadCatalog(call.ctx.env)).map(({ count: _count, ...query }) => query)
  // Bounded: one query for each of two clouds.
  const found = await Promise.all(
    queries.map((query) => once(call, `counts ${JSON.stringify(query)}`, () => listFittingCounts(call.ctx, query))),
  )
  return [...new Set(found.flatMap((counts) => counts.get(gpuTypeId) ?? []))].sort((a, b) => a - b)
}

function availability(call: Call): Promise<DataCenter[]> {
  return once(call, 'data centers', () => listShownDataCenters(call.ctx, { include: ['GPU_AVAILABILITY'] }))
}
