import type { CpuType, DataCenter, GpuType } from '../../contract/catalog/catalog.ts'
import type { CpuCatalogQuery, GpuCatalogQuery } from '../../contract/catalog/query.ts'
import type { Cloud } from '../../contract/enums.ts'
import type { PodNeeds } from '../availability.ts'
import { type Catalog, CPU_DISK_GB_PER_VCPU, findListedDataCenter, gpuTypesOfPools } from '../catalog/catalog.ts'
import { shownPrice } from '../pod/access.ts'
import { instanceOf, STOCK } from './words.ts'

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
  totalDisk?: number | null
  globalNetwork?: boolean | null
  compliance?: readonly (string | null)[] | null
}

/** What of it REST has too, and what it has not (GQL-44). */
export type PodOfferQuery = GpuCatalogQuery & { needs?: PodNeeds; dataCenterIds?: string[] }

/** How availability is asked for it, once for each cloud that would do. */
export function lowestPriceQueries(input: LowestPriceInput, { dataCenters }: Pick<Catalog, 'dataCenters'>): PodOfferQuery[] {
  const { secureCloud, gpuCount, allowedCudaVersions, minCudaVersion, countryCode } = input
  const needs = needsOf(input)
  const dataCenterIds = placesOf(input, dataCenters)
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
    ...(Object.keys(needs).length > 0 && { needs }),
    ...(dataCenterIds && { dataCenterIds }),
  }))
}

/** Zero and less say nothing, as of a create. */
function needsOf({ minVcpuCount, minMemoryInGb, totalDisk, globalNetwork }: LowestPriceInput): PodNeeds {
  return {
    ...(minVcpuCount && minVcpuCount > 0 && { vcpus: minVcpuCount }),
    ...(minMemoryInGb && minMemoryInGb > 0 && { memoryGb: minMemoryInGb }),
    ...(totalDisk && totalDisk > 0 && { diskGb: totalDisk }),
    ...(globalNetwork && { globalNetworking: true }),
  }
}

/** The data center that is named, as far as it has the marks; nothing: anywhere. */
function placesOf({ dataCenterId, compliance }: LowestPriceInput, dataCenters: Catalog['dataCenters']): string[] | undefined {
  const marks = (compliance ?? []).flatMap((mark) => (mark ? [mark] : []))
  if (marks.length === 0) return dataCenterId ? [dataCenterId] : undefined
  const marked = dataCenters.filter((one) => marks.every((mark) => one.compliance.some((had) => had === mark))).map(({ id }) => id)
  return dataCenterId ? marked.filter((id) => id === dataCenterId) : marked
}

/** What one cloud has. */
export interface Offer {
  query: GpuCatalogQuery
  types: readonly GpuType[]
}

/**
 * Price and stock of a type in one cloud: of those asked for the first that has stock, as a create tries them, otherwise the first that sells it (GQL-34).
 * Null prices: it is not sold so.
 */
export function lowestPrice(catalog: Catalog, typeId: string, input: LowestPriceInput, offers: readonly Offer[]) {
  const found = offers.flatMap(({ query, types }) => {
    const type = types.find(({ id }) => id === typeId)
    const isSold = type && (query.cloud === 'SECURE' ? type.secure : type.community)
    const price = query.cloud === 'SECURE' ? type?.price.secure : type?.price.community
    return isSold && price !== undefined ? [{ type, price, isSecure: query.cloud === 'SECURE', level: type.availability ?? 'NONE' }] : []
  })
  const quoted = found.find(({ level }) => level !== 'NONE') ?? found[0]
  const price = quoted?.price ?? null
  const count = Math.max(1, input.gpuCount ?? 1)
  const name = catalog.gpuTypes.find(({ id }) => id === typeId)?.name ?? typeId
  return {
    gpuName: name,
    gpuTypeId: typeId,
    minimumBidPrice: price,
    uninterruptablePrice: price,
    minMemory: input.minMemoryInGb ?? count,
    minVcpu: input.minVcpuCount ?? count,
    stockStatus: STOCK[quoted?.level ?? 'NONE'],
    compliance: input.dataCenterId ? [...(findListedDataCenter(catalog, input.dataCenterId)?.compliance ?? [])] : [],
    gpuTypeCudaVersions: (quoted?.type.cudaVersions ?? []).map(({ version, available }) => {
      return { cudaVersion: version, availability: available ? 'AVAILABLE' : 'UNAVAILABLE' }
    }),
    input: quoted ? { ...input, secureCloud: quoted.isSecure } : input,
  }
}

/** A data center as GraphQL shows it. */
export function flatDataCenter({ id, name, region, networkVolumeTypes }: DataCenter) {
  return { id, name, location: region, s3apiEnabled: false, storageSupport: networkVolumeTypes.length > 0 }
}

/** What is free in a data center. */
export function flatGpuAvailability(dataCenter: DataCenter | undefined) {
  return (dataCenter?.gpuAvailability ?? []).map(({ id, name, availability }) => {
    return {
      id: `${dataCenter?.id}-${id}`,
      gpuTypeId: id,
      displayName: name,
      stockStatus: STOCK[availability],
      available: availability !== 'NONE',
    }
  })
}

/** Pools with the types that a worker of them may run on. */
export function gpuPools(catalog: Catalog): { id: string; gpuTypeIds: string[] }[] {
  const pools = [...new Set(catalog.gpuTypes.flatMap(({ pool }) => (pool === null ? [] : [pool])))]
  return pools.map((id) => ({ id, gpuTypeIds: gpuTypesOfPools(catalog, [id], []) })).filter(({ gpuTypeIds }) => gpuTypeIds.length > 0)
}

/** A kind of CPU machine, as a kind of CPU. */
export function flatCpuType({ id, name, group, vcpu }: CpuType) {
  return { id, displayName: name, cores: vcpu.max, threadsPerCore: 1, groupId: groupIdOf(group) }
}

/** A kind of CPU machine. */
export function flatCpuFlavor({ id, name, group, vcpu, ramGbPerVcpu }: CpuType) {
  return {
    id,
    displayName: name,
    groupId: groupIdOf(group),
    groupName: group,
    minVcpu: vcpu.min,
    maxVcpu: vcpu.max,
    ramMultiplier: ramGbPerVcpu,
    diskLimitPerVcpu: CPU_DISK_GB_PER_VCPU,
    vcpuBurstable: false,
  }
}

function groupIdOf(group: string): string {
  return group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
}

/** Which machine is asked about; the smallest, where no data center or size is named. */
export interface SpecificsInput {
  dataCenterId?: string | null
  instanceId?: string | null
}

/** How availability is asked for it. */
export function specificsQuery({ instanceId }: SpecificsInput): CpuCatalogQuery {
  const instance = instanceOf(instanceId ?? '')
  return { include: ['AVAILABILITY'], product: ['POD'], ...(instance && { vcpuCount: instance.vcpuCount }) }
}

/** Stock and prices of a whole machine of this flavor: of the smallest, unless a size is named (GQL-64). */
export function specifics(flavorId: string, { dataCenterId, instanceId }: SpecificsInput, flavors: readonly CpuType[]) {
  const instance = instanceOf(instanceId ?? '')
  const flavor = flavors.find(({ id }) => id === (instance?.id ?? flavorId))
  if (!flavor || (instance && !isSold(flavor, instance.vcpuCount))) return null
  const { availability = 'NONE', dataCenters = [], price } = flavor
  const level = dataCenterId ? (dataCenters.find(({ id }) => id === dataCenterId)?.availability ?? 'NONE') : availability
  const times = instance?.vcpuCount ?? flavor.vcpu.min
  const priceOf = (usd: number) => (usd > 0 ? shownPrice(usd * times) : null)
  return { stockStatus: STOCK[level], securePrice: priceOf(price.securePerVcpu), slsPrice: priceOf(price.serverlessPerVcpu) }
}

function isSold({ vcpu }: CpuType, vcpuCount: number): boolean {
  return vcpuCount >= vcpu.min && vcpuCount <= vcpu.max
}
