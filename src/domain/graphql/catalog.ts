import type { CpuType, DataCenter, GpuType } from '../../contract/catalog/catalog.ts'
import type { CpuCatalogQuery, GpuCatalogQuery } from '../../contract/catalog/query.ts'
import type { Cloud } from '../../contract/enums.ts'
import type { PodNeeds } from '../availability.ts'
import { type Catalog, CPU_DISK_GB_PER_VCPU, findListedDataCenter, gpuTypesOfPools } from '../catalog/catalog.ts'
import { instanceOf } from '../flat/terms.ts'
import { shownPrice } from '../pod/access.ts'
import type { DeployInput } from './pod-inputs.ts'
import { STOCK } from './values.ts'

/** A GPU type as GraphQL shows it: the price in a cloud that does not sell it is null, and spot prices are the catalog's prices. */
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

/** The GPUs, pod and place that a lowest price is asked for. */
export interface LowestPriceInput
  extends Pick<
    DeployInput,
    | 'allowedCudaVersions'
    | 'minCudaVersion'
    | 'gpuCount'
    | 'minMemoryInGb'
    | 'minVcpuCount'
    | 'dataCenterId'
    | 'countryCode'
    | 'globalNetwork'
    | 'compliance'
  > {
  secureCloud?: boolean | null
  /** GB. */
  totalDisk?: number | null
}

/** A REST query for GPU types, with the two filters that REST does not have (GQL-44). */
export type PodOfferQuery = GpuCatalogQuery & { needs?: PodNeeds; dataCenterIds?: string[] }

/** The availability queries for an input, one for each cloud that would do. */
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

/** Zero and negative numbers are ignored, as in a create. */
function needsOf({ minVcpuCount, minMemoryInGb, totalDisk, globalNetwork }: LowestPriceInput): PodNeeds {
  return {
    ...(minVcpuCount && minVcpuCount > 0 && { vcpus: minVcpuCount }),
    ...(minMemoryInGb && minMemoryInGb > 0 && { memoryGb: minMemoryInGb }),
    ...(totalDisk && totalDisk > 0 && { diskGb: totalDisk }),
    ...(globalNetwork && { globalNetworking: true }),
  }
}

/** The named data center if it has the compliance marks, or all that have them; undefined: anywhere. */
function placesOf({ dataCenterId, compliance }: LowestPriceInput, dataCenters: Catalog['dataCenters']): string[] | undefined {
  const marks = (compliance ?? []).flatMap((mark) => (mark ? [mark] : []))
  if (marks.length === 0) return dataCenterId ? [dataCenterId] : undefined
  const marked = dataCenters.filter((one) => marks.every((mark) => one.compliance.some((had) => had === mark))).map(({ id }) => id)
  return dataCenterId ? marked.filter((id) => id === dataCenterId) : marked
}

/** The GPU types that one availability query found. */
export interface Offer {
  query: GpuCatalogQuery
  types: readonly GpuType[]
}

/**
 * Price and stock of a type: of the first cloud with stock, in the order in which a create tries them, otherwise of the first that sells it
 * (GQL-34). Null prices: no cloud sells it.
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

/** The availability of GPUs in a data center. */
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

/** Pools with the types that a worker of each may run on; pools without such a type are left out. */
export function gpuPools(catalog: Catalog): { id: string; gpuTypeIds: string[] }[] {
  const pools = [...new Set(catalog.gpuTypes.flatMap(({ pool }) => (pool === null ? [] : [pool])))]
  return pools.map((id) => ({ id, gpuTypeIds: gpuTypesOfPools(catalog, [id], []) })).filter(({ gpuTypeIds }) => gpuTypeIds.length > 0)
}

/** A CPU flavor as a GraphQL CPU type. */
export function flatCpuType({ id, name, group, vcpu }: CpuType) {
  return { id, displayName: name, cores: vcpu.max, threadsPerCore: 1, groupId: groupIdOf(group) }
}

/** A CPU flavor as GraphQL shows it. */
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

/** The CPU machine that is asked for; by default its smallest size, in any data center. */
export interface SpecificsInput {
  dataCenterId?: string | null
  instanceId?: string | null
}

/** The availability query for this machine. */
export function specificsQuery({ instanceId }: SpecificsInput): CpuCatalogQuery {
  const instance = instanceOf(instanceId ?? '')
  return { include: ['AVAILABILITY'], product: ['POD'], ...(instance && { vcpuCount: instance.vcpuCount }) }
}

/** Stock and prices of a whole machine of this flavor, in its smallest size unless one is named (GQL-64); null if it is not sold so. */
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
