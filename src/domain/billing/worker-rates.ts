import { type Catalog, findCpuFlavor, findGpuType } from '../catalog/catalog.ts'
import { diskNanosPerHour } from '../catalog/storage.ts'
import type { ComputeShape } from '../host/placement.ts'
import { nanosOfUsd, type Rates } from '../money.ts'

/** The rates of a worker (BIL-10). A type without a serverless price is free, as a pod is whose type has no price (CAT-30). */
export function workerRates(catalog: Catalog, { gpu, vcpus, flavorId }: ComputeShape, containerGb: number): Rates {
  const type = gpu && findGpuType(catalog, gpu.typeId)
  const flavor = flavorId === undefined ? undefined : findCpuFlavor(catalog, flavorId)
  return {
    gpuNanosPerHour: gpu ? nanosOfUsd(type?.serverlessPrice ?? 0) * gpu.count : 0,
    cpuNanosPerHour: gpu ? 0 : nanosOfUsd(flavor?.serverlessPricePerVcpu ?? 0) * vcpus,
    diskNanosPerHour: diskNanosPerHour(catalog.storage, { containerGb, persistentGb: 0 }).running,
  }
}
