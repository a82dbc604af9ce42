import type { CpuCatalogQuery, DataCenterListQuery, GpuCatalogQuery } from '../../contract/catalog/query.ts'
import { badRequest, type Refusal } from '../../contract/problems.ts'
import type { DataCenter } from './data-centers.ts'

/** Refuses filters of a query that exclude each other (CAT-2, CAT-4); the schema checks each by itself. */
export function refuseQuery(query: GpuCatalogQuery | CpuCatalogQuery): Refusal | null {
  const { include, ...filters } = query
  if (!include) {
    const [sent] = Object.entries(filters).find(([, value]) => value !== undefined) ?? []
    return sent === undefined ? null : badRequest(`${sent} needs include=AVAILABILITY`)
  }
  if (query.product === undefined) return badRequest('include=AVAILABILITY needs product')
  const isBoth = 'cudaVersions' in query && query.cudaVersions !== undefined && query.minCudaVersion !== undefined
  return isBoth ? badRequest('cudaVersions and minCudaVersion exclude each other') : null
}

/** Whether a data center matches the filters of a query (CAT-5). */
export function isWanted(dataCenter: DataCenter, { regions, networkVolumeTypes, compliance, globalNetwork }: DataCenterListQuery): boolean {
  if (regions && !regions.includes(dataCenter.region)) return false
  if (networkVolumeTypes?.some((type) => !dataCenter.networkVolumeTypes.includes(type))) return false
  if (compliance?.some((mark) => !dataCenter.compliance.includes(mark))) return false
  return globalNetwork === undefined || globalNetwork === dataCenter.globalNetwork
}
