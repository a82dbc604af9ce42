import { z } from 'zod'
import { CLOUDS, COMPLIANCES, REGIONS, VOLUME_TYPES } from '../enums.ts'
import { CudaVersion } from '../fields.ts'
import { form } from '../forms.ts'
import { queryInteger } from '../query-values.ts'

// Filters of the catalog (CAT-2, CAT-4, CAT-5, CAT-6). An invalid value is 422; values that contradict each other are 400.

/** Most values in one list of a query. */
const MAX_LISTED = 64
/** No machine has more, so that the schema itself refuses a larger number. */
const MAX_COUNT = 1_024
const MAX_VERSION_LENGTH = 16
const COUNTRY_CODE = form(/^[A-Z]{2}$/, 'two capital letters such as DE')
const VERSION_FLOOR = form(/^\d+(\.\d+)?$/, 'a version such as 12 or 12.8')

export const PRODUCTS = ['POD', 'CLUSTER', 'SERVERLESS'] as const
export const TEMPLATE_SOURCES = ['official', 'verified', 'community'] as const
export type TemplateSource = (typeof TEMPLATE_SOURCES)[number]
export const CPU_PRODUCTS = ['POD', 'SERVERLESS'] as const

/** A list of values in one comma-separated parameter, which may be sent only once (ERR-5). */
function commaList<Item extends z.ZodType>(name: string, item: Item, max = MAX_LISTED) {
  const read = (value: unknown, ctx: z.RefinementCtx): unknown => {
    if (!Array.isArray(value)) return typeof value === 'string' ? value.split(',') : value
    ctx.addIssue({ code: 'custom', message: `parameter '${name}' is not exploded, but is specified multiple times` })
    return z.NEVER
  }
  return z
    .preprocess(read, z.array(item).max(max))
    .optional()
    .meta({ param: { name, in: 'query', style: 'form', explode: false } })
}

/** An optional integer without a default, because other checks depend on whether it was sent. */
function sentInteger(name: string, min: number, meta: object) {
  return queryInteger(min, MAX_COUNT, min)
    .removeDefault()
    .optional()
    .meta({ ...meta, param: { name, in: 'query' } })
}

const include = commaList('include', z.enum(['AVAILABILITY']).meta({ id: 'CatalogInclude', example: 'AVAILABILITY' }), 1)

export const GpuCatalogQuery = z.object({
  include: include.meta({ description: 'Adds the number that could be placed now; requires `product`.' }),
  product: commaList('product', z.enum(PRODUCTS).meta({ id: 'Product', example: 'POD' })).meta({
    description: 'The product; with several, the one with the most free capacity counts. Requires `include`.',
  }),
  count: sentInteger('count', 1, { description: 'GPUs of one pod or worker. Default: 1. Requires `include`.' }),
  cloud: z
    .enum(CLOUDS)
    .meta({ id: 'GpuCloudFilter', example: 'SECURE' })
    .optional()
    .meta({ description: 'Default: `SECURE`. Requires `include`.', param: { name: 'cloud', in: 'query' } }),
  countryCodes: commaList('countryCodes', z.string().regex(COUNTRY_CODE)).meta({
    description: 'Only data centers in one of these countries. Requires `include`.',
  }),
  cudaVersions: commaList('cudaVersions', CudaVersion).meta({
    description: 'Exactly one of these versions. Excludes `minCudaVersion`; requires `include`.',
  }),
  minCudaVersion: z
    .string()
    .regex(VERSION_FLOOR)
    .max(MAX_VERSION_LENGTH)
    .optional()
    .meta({ description: 'This version or later. Requires `include`.', param: { name: 'minCudaVersion', in: 'query' } }),
})
export type GpuCatalogQuery = z.infer<typeof GpuCatalogQuery>

export const CpuCatalogQuery = z.object({
  include: include.meta({ description: 'Adds the number that could be placed now; requires `product`.' }),
  product: commaList('product', z.enum(CPU_PRODUCTS).meta({ id: 'CpuProduct', example: 'POD' })).meta({
    description: 'The product; with several, the one with the most free capacity counts. Requires `include`.',
  }),
  vcpuCount: sentInteger('vcpuCount', 2, {
    description: 'A power of two. Default: the minimum of the flavor. Requires `include`.',
  }).refine((count) => count === undefined || Number.isInteger(Math.log2(count)), { error: 'want a power of two' }),
})
export type CpuCatalogQuery = z.infer<typeof CpuCatalogQuery>

export const DATA_CENTER_INCLUDES = ['GPU_AVAILABILITY', 'CPU_AVAILABILITY'] as const
const dataCenterInclude = commaList(
  'include',
  z.enum(DATA_CENTER_INCLUDES).meta({ id: 'DataCenterInclude', example: 'GPU_AVAILABILITY' }),
).meta({
  description: 'Adds the free GPUs, CPUs, or both.',
})

export const DataCenterQuery = z.object({ include: dataCenterInclude })
export type DataCenterQuery = z.infer<typeof DataCenterQuery>

export const Region = z.enum(REGIONS).meta({ id: 'DataCenterRegion', example: 'EUROPE' })
export const ComplianceMark = z.enum(COMPLIANCES).meta({ id: 'Compliance', example: 'GDPR' })

export const DataCenterListQuery = z.object({
  include: dataCenterInclude,
  regions: commaList('regions', Region).meta({ description: 'Only data centers in one of these countries.' }),
  networkVolumeTypes: commaList('networkVolumeTypes', z.enum(VOLUME_TYPES)).meta({
    description: 'Only data centers with all of these certifications.',
  }),
  compliance: commaList('compliance', ComplianceMark).meta({ description: 'Only data centers with all of these certifications.' }),
  globalNetwork: z
    .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'insensitive' })
    .optional()
    .meta({
      type: 'boolean',
      description: 'Only data centers with a global network, or without.',
      param: { name: 'globalNetwork', in: 'query' },
    }),
})
export type DataCenterListQuery = z.infer<typeof DataCenterListQuery>

export const TemplateCatalogQuery = z.object({
  source: z
    .enum(TEMPLATE_SOURCES)
    .default('official')
    .meta({
      description: 'Publisher: `official` and `verified` are accounts that the operator lists; `community` is all other accounts.',
      param: { name: 'source', in: 'query' },
    }),
})
