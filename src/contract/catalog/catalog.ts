import { z } from 'zod'
import { VOLUME_TYPES } from '../enums.ts'
import { Pagination, WHOLE_PAGE } from '../pagination.ts'
import { Template } from '../resources/templates.ts'
import { ComplianceMark, Region } from './query.ts'

// Schemas of the catalog's answers (CAT-1, CAT-3, CAT-4, CAT-5).

export const LEVELS = ['NONE', 'LOW', 'MEDIUM', 'HIGH'] as const
export type Level = (typeof LEVELS)[number]

const AvailabilityLevel = z.enum(LEVELS).meta({
  id: 'AvailabilityLevel',
  description: 'How many more of the requested size fit now: none, 1 to 3, 4 to 15, 16 and more. At most 5 seconds old.',
  example: 'HIGH',
})

const PLACE_EXAMPLE = { id: 'EU-RO-1', name: 'EU Romania 1', availability: 'LOW' } as const
const DataCenterAvailability = z
  .object({ id: z.string(), name: z.string(), availability: AvailabilityLevel })
  .meta({ id: 'DataCenterAvailability', example: PLACE_EXAMPLE })
const CudaVersionAvailability = z
  .object({ version: z.string().regex(/^\d+\.\d+$/), available: z.boolean() })
  .meta({ id: 'CudaVersionAvailability', example: { version: '12.8', available: true } })

const Usd = z.number().meta({ format: 'float' })

const DATA_CENTERS_TEXT = 'Where it fits; absent when it fits nowhere. Only with `include=AVAILABILITY`.'
const LEVEL_TEXT = 'Only with `include=AVAILABILITY`.'

const gpuExample = {
  id: 'NVIDIA L4',
  name: 'L4',
  pool: 'AMPERE_24',
  manufacturer: 'NVIDIA',
  memory: 24,
  secure: true,
  community: true,
  price: { secure: 0.44, community: 0.28, serverless: 0.69 },
  maxCount: { secure: 8, community: 8 },
} as const

export const GpuType = z
  .object({
    id: z.string(),
    name: z.string(),
    pool: z.string().nullable().meta({ description: 'The pool name that endpoints use; null: workers cannot use it.' }),
    manufacturer: z.enum(['NVIDIA', 'AMD', 'UNKNOWN']).meta({ id: 'GpuManufacturer', example: 'NVIDIA' }),
    memory: z.number().int().meta({ description: 'GB.' }),
    secure: z.boolean().meta({ description: 'Available in this cloud.' }),
    community: z.boolean().meta({ description: 'Available in this cloud.' }),
    price: z
      .object({
        secure: Usd,
        community: Usd,
        serverless: Usd.optional().meta({ description: 'Absent: workers cannot use it.' }),
      })
      .meta({ id: 'GpuPrice', description: 'USD per GPU and hour; 0 if it is not available there.', example: gpuExample.price }),
    maxCount: z
      .object({ secure: z.number().int(), community: z.number().int() })
      .meta({ id: 'GpuMaxCount', description: 'Maximum in one pod.', example: gpuExample.maxCount }),
    availability: AvailabilityLevel.optional().meta({ description: LEVEL_TEXT }),
    dataCenters: z.array(DataCenterAvailability).optional().meta({ description: DATA_CENTERS_TEXT }),
    cudaVersions: z
      .array(CudaVersionAvailability)
      .optional()
      .meta({ description: 'As reported by its hosts; absent if they report none. Only with `include=AVAILABILITY`.' }),
  })
  .meta({ id: 'GpuType', example: gpuExample })
export type GpuType = z.infer<typeof GpuType>

export const ListGpuTypesResponse = z
  .object({ gpus: z.array(GpuType) })
  .meta({ id: 'ListGpuTypesResponse', example: { gpus: [gpuExample] } })

const cpuExample = {
  id: 'cpu3c',
  name: 'Compute-Optimized',
  group: 'Gen 3',
  vcpu: { min: 2, max: 32 },
  ramGbPerVcpu: 2,
  price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.02 },
}

export const CpuType = z
  .object({
    id: z.string(),
    name: z.string(),
    group: z.string(),
    vcpu: z.object({ min: z.number().int(), max: z.number().int() }).meta({ id: 'CpuVcpuRange', example: cpuExample.vcpu }),
    ramGbPerVcpu: z.number().meta({ format: 'float' }),
    price: z
      .object({ securePerVcpu: Usd, serverlessPerVcpu: Usd })
      .meta({ id: 'CpuPrice', description: 'USD per vCPU and hour; 0 if it is not available there.', example: cpuExample.price }),
    availability: AvailabilityLevel.optional().meta({ description: LEVEL_TEXT }),
    dataCenters: z.array(DataCenterAvailability).optional().meta({ description: DATA_CENTERS_TEXT }),
  })
  .meta({ id: 'CpuType', example: cpuExample })
export type CpuType = z.infer<typeof CpuType>

export const ListCpuTypesResponse = z
  .object({ cpus: z.array(CpuType) })
  .meta({ id: 'ListCpuTypesResponse', example: { cpus: [cpuExample] } })

const CatalogResourceAvailability = z
  .object({ id: z.string(), name: z.string(), availability: AvailabilityLevel })
  .meta({ id: 'CatalogResourceAvailability', example: { id: 'NVIDIA L4', name: 'L4', availability: 'LOW' } })

const dataCenterExample = {
  id: 'EU-RO-1',
  name: 'EU Romania 1',
  region: 'EUROPE',
  globalNetwork: true,
  networkVolumeTypes: ['STANDARD' as const],
  compliance: [],
} as const

export const DataCenter = z
  .object({
    id: z.string(),
    name: z.string(),
    region: Region,
    globalNetwork: z.boolean(),
    networkVolumeTypes: z.array(z.enum(VOLUME_TYPES)),
    compliance: z.array(ComplianceMark),
    gpuAvailability: z
      .array(CatalogResourceAvailability)
      .optional()
      .meta({ description: 'Types of the hosts there, for pods with one GPU of either cloud. Only with `include=GPU_AVAILABILITY`.' }),
    cpuAvailability: z
      .array(CatalogResourceAvailability)
      .optional()
      .meta({ description: 'For pods of the smallest size; empty if there is no host. Only with `include=CPU_AVAILABILITY`.' }),
  })
  .meta({ id: 'DataCenter', example: dataCenterExample })
export type DataCenter = z.infer<typeof DataCenter>

export const ListDataCentersResponse = z
  .object({ dataCenters: z.array(DataCenter) })
  .meta({ id: 'ListDataCentersResponse', example: { dataCenters: [dataCenterExample] } })

export const ListPublicTemplatesResponse = z
  .object({ templates: z.array(Template), pagination: Pagination })
  .meta({ id: 'ListPublicTemplatesResponse', example: { templates: [], pagination: WHOLE_PAGE } })
