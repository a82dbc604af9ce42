import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { VOLUME_TYPES } from '../enums.ts'
import { DataCenterId, Name, PLAIN_TEXT, wholeNumber } from '../fields.ts'
import { ComplianceMark, Region } from './query.ts'

// Catalog entries of the operator (CAT-9, CAT-15). An absent member keeps the value of the seed.

/** Highest price, USD; no resource costs more an hour or a month. */
const MAX_USD = 1_000_000
const MAX_ID_LENGTH = 191
const Usd = z.number().min(0).max(MAX_USD)
const Id = z.string().min(1).max(MAX_ID_LENGTH).regex(PLAIN_TEXT)
const inPath = { param: { name: 'id', in: 'path' as const }, description: 'Id, percent-encoded.' }

const OFFERED_TEXT = 'False: not available for new workloads; existing ones keep running.'
const ORIGIN = z.enum(['SEED', 'CHANGED', 'OWN']).meta({
  id: 'CatalogOrigin',
  description: 'Origin of the values: the seed, the seed changed by an entry, or an entry only.',
  example: 'CHANGED',
})

const gpuMembers = {
  name: Name.optional(),
  manufacturer: z.enum(['NVIDIA', 'AMD', 'UNKNOWN']).optional(),
  memory: wholeNumber(1).optional().meta({ description: 'GB.' }),
  pool: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Za-z0-9_-]+$/)
    .nullable()
    .optional()
    .meta({ description: 'Requires `price.serverless`.' }),
  price: z
    .strictObject({
      secure: Usd.nullable().optional(),
      community: Usd.nullable().optional(),
      serverless: Usd.nullable().optional(),
    })
    .optional()
    .meta({
      id: 'CatalogGpuPrices',
      description: 'USD per GPU and hour; null: not available there. With neither `secure` nor `community` it is free of charge in both.',
      example: { secure: 0.5, community: null },
    }),
  maxCount: wholeNumber(1).max(1_024).optional().meta({ description: 'Maximum in one pod or worker.' }),
  offered: z.boolean().optional().meta({ description: OFFERED_TEXT }),
}

export const PutCatalogGpu = z.strictObject(gpuMembers).meta({ id: 'PutCatalogGpu', example: { price: { secure: 0.5 } } })
export type PutCatalogGpu = z.infer<typeof PutCatalogGpu>

export const PutCatalogCpu = z
  .strictObject({
    name: Name.optional(),
    group: Name.optional(),
    vcpu: z
      .strictObject({ min: wholeNumber(2).max(1_024), max: wholeNumber(2).max(1_024) })
      .optional()
      .meta({ id: 'CatalogCpuRange', example: { min: 2, max: 32 } }),
    ramGbPerVcpu: z.number().min(0.5).max(1_024).optional(),
    price: z
      .strictObject({ securePerVcpu: Usd.optional(), serverlessPerVcpu: Usd.optional() })
      .optional()
      .meta({ id: 'CatalogCpuPrices', description: 'USD for one vCPU and hour.', example: { securePerVcpu: 0.03 } }),
    offered: z.boolean().optional().meta({ description: OFFERED_TEXT }),
  })
  .meta({ id: 'PutCatalogCpu', example: { price: { securePerVcpu: 0.04 } } })
export type PutCatalogCpu = z.infer<typeof PutCatalogCpu>

export const PutCatalogDataCenter = z
  .strictObject({
    name: Name.optional(),
    region: Region.optional(),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/)
      .nullable()
      .optional()
      .meta({ description: 'ISO 3166 code.' }),
    networkVolumeTypes: z
      .array(z.enum(VOLUME_TYPES))
      .max(2)
      .optional()
      .meta({ description: 'The first is the default; empty: none there.' }),
    globalNetwork: z.boolean().optional(),
    compliance: z.array(ComplianceMark).max(16).optional(),
  })
  .meta({ id: 'PutCatalogDataCenter', example: { name: 'Laboratory', region: 'EUROPE', country: 'DE' } })
export type PutCatalogDataCenter = z.infer<typeof PutCatalogDataCenter>

const Tiers = z
  .strictObject({ first: Usd.optional(), further: Usd.optional() })
  .meta({ id: 'CatalogTiers', description: 'The first TB, and each GB beyond it.', example: { first: 0.07, further: 0.05 } })

export const PutCatalogStorage = z
  .strictObject({
    running: Usd.optional(),
    stopped: Usd.optional(),
    STANDARD: Tiers.optional(),
    HIGH_PERFORMANCE: Tiers.optional(),
  })
  .meta({
    id: 'PutCatalogStorage',
    description: 'USD for one GB and month: `running` and `stopped` of disks, a member for each type of network volumes.',
    example: { running: 0.1, stopped: 0.2 },
  })
export type PutCatalogStorage = z.infer<typeof PutCatalogStorage>

/** Accounts whose public templates are listed as official or verified (CAT-6). */
export const PutCatalogPublisher = z
  .strictObject({ source: z.enum(['official', 'verified']) })
  .meta({ id: 'PutCatalogPublisher', example: { source: 'official' } })
export type PutCatalogPublisher = z.infer<typeof PutCatalogPublisher>

export const CatalogParams = z.object({ id: Id.meta(inPath) })
export const DataCenterParams = z.object({ id: DataCenterId.meta(inPath) })
export const StorageParams = z.object({
  id: z
    .enum(['containerDisk', 'persistentDisk', 'networkVolume'])
    .meta({ id: 'CatalogStorageId', example: 'persistentDisk' })
    .meta({ param: { name: 'id', in: 'path' }, description: 'Name of the storage price.' }),
})

/** A catalog entry in force, with its origin. */
export const CatalogItem = z
  .object({
    id: z.string(),
    origin: ORIGIN,
    entry: z.record(z.string(), z.unknown()).meta({ description: "The operator's entry; empty: none." }),
    inForce: z.record(z.string(), z.unknown()).meta({ description: 'The effective values.' }),
  })
  .meta({
    id: 'CatalogItem',
    example: { id: 'persistentDisk', origin: 'CHANGED', entry: { stopped: 0.15 }, inForce: { running: 0.1, stopped: 0.15 } },
  })
export type CatalogItem = z.infer<typeof CatalogItem>

export const CatalogItemOrChangePlan = orChangePlan('CatalogItemOrChangePlan', CatalogItem)

export const ListCatalogItems = z.object({ entries: z.array(CatalogItem) }).meta({ id: 'ListCatalogItems', example: { entries: [] } })
