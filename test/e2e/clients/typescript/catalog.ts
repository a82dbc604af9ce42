import type { Podplane } from '@podplane/sdk'
import { holds } from './tour.ts'

const GPU = 'NVIDIA L4'

/** The catalog of the plane: whether it states amounts, and its ids. */
export async function catalog(plane: Podplane, dataCenter: string) {
  const { gpus } = await plane.listGpuTypes({ query: { include: ['AVAILABILITY'], product: ['POD', 'SERVERLESS'] } })
  const gpu = await plane.getGpuType({ path: { id: GPU } })
  const { cpus } = await plane.listCpuTypes()
  const cpu = await plane.getCpuType({ path: { id: 'cpu3c' } })
  const { dataCenters } = await plane.listDataCenters({ query: { include: ['GPU_AVAILABILITY', 'CPU_AVAILABILITY'] } })
  const place = await plane.getDataCenter({ path: { id: dataCenter } })
  const { templates } = await plane.listPublicTemplates()
  return {
    gpus: [gpus.find(({ id }) => id === GPU)?.availability !== undefined, gpu.id],
    cpus: [holds(cpus, cpu), cpu.id],
    dataCenters: [holds(dataCenters, place), place.id],
    templates: Array.isArray(templates),
  }
}
