import type { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { type Catalog, gpuTypesOfPools, isValidVcpuCount } from '../catalog/catalog.ts'
import type { CpuCompute, EndpointConfig, GpuCompute } from '../endpoint/record.ts'
import type { PlacementHost } from '../host/placement.ts'
import { dataCenterLadder, diskLadder, distinct, fewer } from './rungs.ts'
import type { Ladder, Rung } from './search.ts'

/** Changes of an endpoint that may make a worker fit (WHY-10). Pure. */

type Patch = UpdateEndpointRequest
type PatchLadder = Ladder<Patch>
type GpuPatch = NonNullable<Patch['gpu']>

/** Ladders for every kind of change, each with its smallest step first. Pools and data centers that no host has are left out. */
export function endpointLadders(config: EndpointConfig, catalog: Catalog, hosts: readonly PlacementHost[]): PatchLadder[] {
  const { compute } = config
  const ofCompute =
    compute.kind === 'gpu' ? [...pools(compute, catalog, hosts), gpuCounts(compute), cuda(compute)] : cpuOptions(compute, catalog)
  return [...ofCompute, dataCenters(config, hosts), cloud(config), disk(config, hosts)].filter(({ rungs }) => rungs.length > 0)
}

function pools({ pools: asked, excludedTypes }: GpuCompute, catalog: Catalog, hosts: readonly PlacementHost[]): PatchLadder[] {
  const free = new Set(hosts.flatMap(({ gpus }) => gpus.filter((gpu) => gpu.free > 0).map(({ typeId }) => typeId)))
  const known = distinct(catalog.gpuTypes.flatMap(({ pool }) => pool ?? []))
  const isThere = (pool: string) => gpuTypesOfPools(catalog, [pool], []).some((typeId) => free.has(typeId))
  const others = known.filter((pool) => !asked.includes(pool) && isThere(pool))
  // A patch of the pools alone would clear the exclusions (END-11).
  const added = others.map((pool): PatchLadder => {
    return { kind: 'GPU_TYPE', rungs: [gpuRung(`allow GPUs of ${pool} too`, { pools: [...asked, pool], excludedTypes })] }
  })
  const allowed = excludedTypes.filter((typeId) => free.has(typeId))
  const lifted = allowed.map((typeId): PatchLadder => {
    const left = excludedTypes.filter((one) => one !== typeId)
    return { kind: 'GPU_TYPE', rungs: [gpuRung(`allow ${typeId} too`, { pools: asked, excludedTypes: left })] }
  })
  return [...added, ...lifted]
}

function gpuCounts({ count: asked }: GpuCompute): PatchLadder {
  return {
    kind: 'GPU_COUNT',
    rungs: fewer(asked).map((count) => gpuRung(`use ${count} ${count === 1 ? 'GPU' : 'GPUs'} a worker`, { count })),
  }
}

function cuda({ minCudaVersion, allowedCudaVersions }: GpuCompute): PatchLadder {
  const isAsked = minCudaVersion !== null || allowedCudaVersions.length > 0
  return { kind: 'CUDA', rungs: isAsked ? [gpuRung('take any CUDA version', { minCudaVersion: '', allowedCudaVersions: [] })] : [] }
}

function gpuRung(summary: string, change: GpuPatch): Rung<Patch> {
  return { summary, apply: (patch) => ({ ...patch, gpu: { ...patch.gpu, ...change } }) }
}

function cpuOptions({ options }: CpuCompute, { cpuFlavors }: Catalog): PatchLadder[] {
  const has = (id: string, count: number) => options.some((option) => option.id === id && option.vcpuCount === count)
  const rung = (id: string, vcpuCount: number): Rung<Patch> => ({
    summary: `allow ${vcpuCount} vCPUs of ${id} too`,
    apply: (patch) => ({ ...patch, cpu: [...options, { id, vcpuCount }] }),
  })
  const most = Math.max(...options.map(({ vcpuCount }) => vcpuCount))
  return cpuFlavors
    .filter(({ offered }) => offered)
    .map((flavor) => {
      const sizes = [most, ...fewer(most)].filter((count) => isValidVcpuCount(flavor, count) && !has(flavor.id, count))
      return { kind: 'CPU_SIZE', rungs: sizes.map((count) => rung(flavor.id, count)) }
    })
}

function dataCenters({ dataCenterIds: asked, networkVolumes }: EndpointConfig, hosts: readonly PlacementHost[]): PatchLadder {
  // Network volumes determine the data centers of workers (END-20).
  if (asked.length === 0 || networkVolumes.length > 0) return { kind: 'DATA_CENTER', rungs: [] }
  return dataCenterLadder(asked, hosts)
}

function cloud({ cloud: asked = 'SECURE' }: EndpointConfig): PatchLadder {
  const rung: Rung<Patch> = { summary: 'allow hardware of both clouds', apply: (patch) => ({ ...patch, cloud: 'ALL' }) }
  return { kind: 'CLOUD', rungs: asked === 'ALL' ? [] : [rung] }
}

function disk({ container }: EndpointConfig, hosts: readonly PlacementHost[]): PatchLadder {
  return diskLadder(
    hosts.map(({ diskGbFree }) => diskGbFree),
    container.diskGb,
  )
}
