import type { GpuType, Level } from '../../contract/catalog/catalog.ts'
import type { GpuCatalogQuery } from '../../contract/catalog/query.ts'
import type { Cloud } from '../../contract/enums.ts'
import { type Catalog, findListedDataCenter } from '../catalog/catalog.ts'
import { STOCK } from './words.ts'

/** A GPU type as GraphQL shows it: prices of what is not sold are null, and there are no others than the catalog's. */
export function flatGpuType({ id, name, manufacturer, memory, secure, community, price, maxCount }: GpuType) {
  const [securePrice, communityPrice] = [secure ? price.secure : null, community ? price.community : null]
  return {
    id,
    displayName: name,
    manufacturer,
    memoryInGb: memory,
    secureCloud: secure,
    communityCloud: community,
    securePrice,
    communityPrice,
    secureSpotPrice: securePrice,
    communitySpotPrice: communityPrice,
    maxGpuCount: Math.max(maxCount.secure, maxCount.community),
    maxGpuCountSecureCloud: maxCount.secure,
    maxGpuCountCommunityCloud: maxCount.community,
  }
}
export type FlatGpuType = ReturnType<typeof flatGpuType>

/** What a lowest price is asked for. */
export interface LowestPriceInput {
  gpuCount?: number | null
  minMemoryInGb?: number | null
  minVcpuCount?: number | null
  secureCloud?: boolean | null
  dataCenterId?: string | null
  countryCode?: string | null
  allowedCudaVersions?: readonly (string | null)[] | null
  minCudaVersion?: string | null
}

/** How availability is asked for it, once for each cloud that would do. */
export function lowestPriceQueries(input: LowestPriceInput): GpuCatalogQuery[] {
  const { secureCloud, gpuCount, allowedCudaVersions, minCudaVersion, countryCode } = input
  const clouds: Cloud[] = secureCloud === true ? ['SECURE'] : secureCloud === false ? ['COMMUNITY'] : ['SECURE', 'COMMUNITY']
  const versions = (allowedCudaVersions ?? []).filter((version) => version !== null && version !== '') as string[]
  return clouds.map((cloud) => ({
    include: ['AVAILABILITY'],
    product: ['POD'],
    cloud,
    count: Math.max(1, gpuCount ?? 1),
    ...(versions.length > 0 && { cudaVersions: versions }),
    ...(minCudaVersion && versions.length === 0 && { minCudaVersion }),
    ...(countryCode && { countryCodes: [countryCode.toUpperCase()] }),
  }))
}

/** What one cloud has. */
export interface Offer {
  query: GpuCatalogQuery
  types: readonly GpuType[]
}

const LEVELS: readonly Level[] = ['NONE', 'LOW', 'MEDIUM', 'HIGH']

/** The best price and stock of a type in what the clouds have (GQL-34). Null prices: it is not sold so. */
export function lowestPrice(catalog: Catalog, typeId: string, input: LowestPriceInput, offers: readonly Offer[]) {
  const found = offers.flatMap(({ query, types }) => {
    const type = types.find(({ id }) => id === typeId)
    const isSold = type && (query.cloud === 'SECURE' ? type.secure : type.community)
    return isSold ? [{ type, price: query.cloud === 'SECURE' ? type.price.secure : type.price.community }] : []
  })
  const levels = found.map(({ type }) => levelIn(type, input.dataCenterId))
  const price = found.length === 0 ? null : Math.min(...found.map((one) => one.price))
  const count = Math.max(1, input.gpuCount ?? 1)
  const versions = new Map<string, boolean>()
  for (const { version, available } of found.flatMap(({ type }) => type.cudaVersions ?? [])) {
    versions.set(version, available || (versions.get(version) ?? false))
  }
  const name = catalog.gpuTypes.find(({ id }) => id === typeId)?.name ?? typeId
  return {
    gpuName: name,
    gpuTypeId: typeId,
    minimumBidPrice: price,
    uninterruptablePrice: price,
    minMemory: input.minMemoryInGb ?? count,
    minVcpu: input.minVcpuCount ?? count,
    stockStatus: STOCK[LEVELS[Math.max(0, ...levels.map((level) => LEVELS.indexOf(level)))] ?? 'NONE'],
    compliance: input.dataCenterId ? [...(findListedDataCenter(catalog, input.dataCenterId)?.compliance ?? [])] : [],
    gpuTypeCudaVersions: [...versions].map(([cudaVersion, available]) => {
      return { cudaVersion, availability: available ? 'AVAILABLE' : 'UNAVAILABLE' }
    }),
    input,
  }
}

function levelIn(type: GpuType, dataCenterId: string | null | undefined): Level {
  if (!dataCenterId) return type.availability ?? 'NONE'
  return type.dataCenters?.find(({ id }) => id === dataCenterId)?.availability ?? 'NONE'
}
