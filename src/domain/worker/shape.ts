import { ENDPOINT_DEFAULTS } from '../../contract/defaults.ts'
import type { RuntimeName } from '../../host-protocol/messages.ts'
import { type Catalog, findCpuFlavor, gpuTypesOfPools } from '../catalog/catalog.ts'
import type { EndpointConfig } from '../endpoint/record.ts'
import { workerDataCenters } from '../endpoint/volumes.ts'
import type { ComputeShape, PlacementRequest } from '../host/placement.ts'
import { isBuiltin } from '../resources/builtin-image.ts'

/** vCPUs and memory per GPU of a worker; small, so that a single-GPU workstation fits its own workers. */
const VCPUS_PER_GPU = 2
const MEMORY_MB_PER_GPU = 8 * 1024

/** Fields of an endpoint's configuration that placement reads; none is secret. */
export type PlacedConfig = Pick<EndpointConfig, 'teamId' | 'compute' | 'dataCenterIds' | 'volumeAt' | 'cloud'> & {
  container: Pick<EndpointConfig['container'], 'image' | 'diskGb'>
}

/** Placement request for a worker of an endpoint. */
export function placementRequestOf(catalog: Catalog, config: PlacedConfig): PlacementRequest {
  const gpu = config.compute.kind === 'gpu' ? config.compute : null
  return {
    teamId: config.teamId,
    runtime: runtimeOfImage(config.container.image),
    dataCenterIds: workerDataCenters(config),
    ...(config.volumeAt && { sharedVolumes: ['network'] }),
    cloud: config.cloud ?? ENDPOINT_DEFAULTS.cloud,
    diskGb: config.container.diskGb,
    shapes: workerShapes(catalog, config),
    allowedCudaVersions: gpu?.allowedCudaVersions ?? [],
    minCudaVersion: gpu?.minCudaVersion ?? null,
  }
}

/** Compute that a worker of the endpoint may run on, best first. */
function workerShapes(catalog: Catalog, config: Pick<EndpointConfig, 'compute'>): ComputeShape[] {
  const { compute } = config
  if (compute.kind === 'gpu') {
    return gpuTypesOfPools(catalog, compute.pools, compute.excludedTypes).map((typeId) => ({
      gpu: { typeId, count: compute.count },
      vcpus: VCPUS_PER_GPU * compute.count,
      memoryMb: MEMORY_MB_PER_GPU * compute.count,
    }))
  }
  return compute.options.flatMap(({ id, vcpuCount }) => {
    const flavor = findCpuFlavor(catalog, id)
    return flavor ? [{ gpu: null, flavorId: id, vcpus: vcpuCount, memoryMb: vcpuCount * flavor.ramGbPerVcpu * 1024 }] : []
  })
}

/** Runtime of a host that runs an image. */
export function runtimeOfImage(image: string): RuntimeName {
  return isBuiltin(image) ? 'process' : 'docker'
}
