import type { Catalog, CpuFlavor, GpuType } from './catalog.ts'
import { type DataCenter, joinedDataCenter } from './data-centers.ts'
import type { KeyedEntry } from './entries.ts'

// Checks the changes that an operator makes to the catalog (CAT-15).

/** Defaults for ids that the seed does not have, used where the entry leaves a field out. */
const NEW_GPU: Omit<GpuType, 'id' | 'name' | 'memoryGb'> = {
  manufacturer: 'UNKNOWN',
  pool: null,
  securePrice: null,
  communityPrice: null,
  serverlessPrice: null,
  maxCount: 8,
  offered: true,
}
const NEW_CPU: Omit<CpuFlavor, 'id' | 'name' | 'group' | 'ramGbPerVcpu' | 'securePricePerVcpu' | 'serverlessPricePerVcpu'> = {
  minVcpu: 2,
  maxVcpu: 32,
  offered: true,
}

/** Completes an entry with defaults if the seed does not have its id. */
export function completeEntry(seed: Catalog, entry: KeyedEntry): KeyedEntry {
  if (entry.kind === 'GPU' && !has(seed.gpuTypes, entry.id)) return { ...entry, body: { ...NEW_GPU, ...entry.body } }
  if (entry.kind === 'CPU' && !has(seed.cpuFlavors, entry.id)) return { ...entry, body: { ...NEW_CPU, ...entry.body } }
  if (entry.kind !== 'DATA_CENTER' || has(seed.dataCenters, entry.id)) return entry
  const { id: _id, ...unknown } = joinedDataCenter(entry.id)
  return { ...entry, body: { ...unknown, ...entry.body } }
}

/** The reason why the catalog that an entry results in is invalid; null: it is valid. */
export function refuseCatalog({ gpuTypes, cpuFlavors, dataCenters }: Catalog, { kind, id }: KeyedEntry): string | null {
  if (kind === 'GPU') return refuseGpu(gpuTypes.find((type) => type.id === id))
  if (kind === 'CPU') return refuseCpu(cpuFlavors.find((flavor) => flavor.id === id))
  const place: DataCenter | undefined = kind === 'DATA_CENTER' ? dataCenters.find((one) => one.id === id) : undefined
  return place && new Set(place.networkVolumeTypes).size < place.networkVolumeTypes.length ? 'networkVolumeTypes names a type twice' : null
}

/** The ids that are in one catalog and not in another: none of them may be in use. */
export interface Lost {
  gpuTypeIds: string[]
  pools: string[]
  cpuFlavorIds: string[]
  dataCenterIds: string[]
}

/** The ids that a change removes from the catalog. */
export function lostBetween(before: Catalog, after: Catalog): Lost {
  return {
    gpuTypeIds: missing(ids(before.gpuTypes), ids(after.gpuTypes)),
    pools: missing(poolsOf(before), poolsOf(after)),
    cpuFlavorIds: missing(ids(before.cpuFlavors), ids(after.cpuFlavors)),
    dataCenterIds: missing(ids(before.dataCenters), ids(after.dataCenters)),
  }
}

function refuseGpu(type: Partial<GpuType> | undefined): string | null {
  if (!type) return null
  if (type.name === undefined || type.memoryGb === undefined) return 'name and memory are required for a type that is not in the seed'
  const isPooled = type.pool !== null
  return isPooled === (type.serverlessPrice !== null) ? null : 'pool and price.serverless go together: both, or both null'
}

function refuseCpu(flavor: (Partial<CpuFlavor> & Pick<CpuFlavor, 'minVcpu' | 'maxVcpu'>) | undefined): string | null {
  if (!flavor) return null
  const { name, group, ramGbPerVcpu, securePricePerVcpu, serverlessPricePerVcpu, minVcpu, maxVcpu } = flavor
  if ([name, group, ramGbPerVcpu, securePricePerVcpu, serverlessPricePerVcpu].includes(undefined)) {
    return 'name, group, ramGbPerVcpu and both prices are required for a flavor that is not in the seed'
  }
  return minVcpu > maxVcpu ? `vcpu.min ${minVcpu} is above vcpu.max ${maxVcpu}` : null
}

const has = (known: readonly { id: string }[], id: string) => known.some((one) => one.id === id)
const ids = (known: readonly { id: string }[]) => known.map(({ id }) => id)
const poolsOf = ({ gpuTypes }: Catalog) => [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))]
const missing = (before: readonly string[], after: readonly string[]) => before.filter((id) => !after.includes(id))
