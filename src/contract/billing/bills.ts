import { z } from 'zod'
import { VOLUME_TYPES } from '../enums.ts'
import { Timestamp } from '../fields.ts'
import { BucketSize } from './query.ts'

/** Amounts of bills in USD (BIL-3, BIL-4); the plane computes in whole millionths. */

const Amount = z.number().meta({ format: 'double', description: 'USD.' })
const Count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const amountsOf = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, Amount])) as Record<Name, typeof Amount>
const zeroesOf = (amounts: Record<string, unknown>) => Object.fromEntries(Object.keys(amounts).map((name) => [name, 0]))

const RANGE = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-06-02T00:00:00Z' }
const range = { startTime: Timestamp, endTime: Timestamp }

const MILLISECONDS = 'RFC 3339, UTC, milliseconds precision.'
const Rate = z.number().meta({ format: 'double', description: 'USD an hour.' })

export const BillingInterval = z
  .object({
    kind: z.enum(['POD', 'SERVERLESS', 'NETWORK_VOLUME', 'CLUSTER']),
    resourceId: z.string().meta({ description: 'The pod, endpoint, network volume or cluster that is charged.' }),
    workloadId: z.string().meta({ description: 'The pod, worker or network volume that the interval belongs to.' }),
    startTime: z.string().meta({ format: 'date-time', description: MILLISECONDS }),
    endTime: z
      .string()
      .nullable()
      .meta({ format: 'date-time', description: `${MILLISECONDS} Null while the interval is open.` }),
    gpuTypeId: z.string().nullable(),
    gpuCount: Count,
    vcpuCount: z.number().min(0),
    diskGb: Count,
    volumeType: z.enum(VOLUME_TYPES).nullable(),
    gpuPerHour: Rate,
    cpuPerHour: Rate,
    diskPerHour: Rate,
    ...amountsOf('gpuAmount', 'cpuAmount', 'diskAmount', 'totalAmount'),
  })
  .meta({
    id: 'BillingInterval',
    description:
      'An interval that was charged at one rate. Its times are those of the whole interval; its amounts cover the part within the record. An amount is rate times hours since the start of the interval, rounded down to a millionth of a USD, at the end of the part minus the same at its beginning.',
    example: {
      kind: 'POD',
      resourceId: '7h9k2m4n6p',
      workloadId: '7h9k2m4n6p',
      startTime: '2026-06-01T12:00:00.000Z',
      endTime: '2026-06-01T13:00:00.000Z',
      gpuTypeId: 'NVIDIA L4',
      gpuCount: 1,
      vcpuCount: 8,
      diskGb: 50,
      volumeType: null,
      gpuPerHour: 0.44,
      cpuPerHour: 0,
      diskPerHour: 0.006849315,
      gpuAmount: 0.44,
      cpuAmount: 0,
      diskAmount: 0.006849,
      totalAmount: 0.446849,
    },
  })
export type BillingInterval = z.infer<typeof BillingInterval>

const intervals = z.array(BillingInterval).optional().meta({ description: 'With `include=INTERVALS`.' })

/** Names of the members that concern one resource in a list. */
function namesOf<Id extends string, Unique extends string>(id: Id, unique: Unique) {
  return {
    owner: { [id]: z.string() } as Record<Id, z.ZodString>,
    filter: { [id]: z.string().nullable() } as Record<Id, z.ZodNullable<z.ZodString>>,
    count: { [unique]: Count } as Record<Unique, typeof Count>,
    examples: { owner: { [id]: '7h9k2m4n6p' }, filter: { [id]: null }, count: { [unique]: 1 } },
  }
}

const NO_NAMES = { owner: {}, filter: {}, count: {}, examples: { owner: {}, filter: {}, count: {} } }

interface Names {
  owner: z.ZodRawShape
  filter: z.ZodRawShape
  count: z.ZodRawShape
  examples: Record<'owner' | 'filter' | 'count', Record<string, unknown>>
}

/** Builds the schemas of one list's answer. */
function listOf<Amounts extends z.ZodRawShape, Of extends Names>(name: string, amounts: Amounts, of: Of) {
  const zeroes = zeroesOf(amounts)
  const Sums = z.object(amounts).meta({ id: `${name}BillingAmounts`, example: zeroes })
  const record = { ...RANGE, ...of.examples.owner, ...zeroes }
  const query = { ...RANGE, bucketSize: 'day', ...of.examples.filter }
  const metadata = { query, recordCount: 1, ...of.examples.count, totals: zeroes }
  const owner: Of['owner'] = of.owner
  const filter: Of['filter'] = of.filter
  const count: Of['count'] = of.count
  const Row = z.object({ ...range, ...owner, ...amounts, intervals }).meta({ id: `${name}BillingRecord`, example: record })
  const Query = z.object({ ...range, bucketSize: BucketSize, ...filter }).meta({ id: `${name}BillingQuery`, example: query })
  const Metadata = z
    .object({ query: Query, recordCount: Count, ...count, totals: Sums })
    .meta({ id: `${name}BillingMetadata`, example: metadata })
  return z
    .object({ records: z.array(Row), metadata: Metadata })
    .meta({ id: `List${name}BillingResponse`, example: { records: [record], metadata } })
}

const AGGREGATE_AMOUNTS = [
  'totalAmount',
  'podGpuAmount',
  'podCpuAmount',
  'podDiskAmount',
  'serverlessGpuAmount',
  'serverlessCpuAmount',
  'serverlessDiskAmount',
  'serverlessFeeAmount',
  'storageStandardAmount',
  'storageHighPerformanceAmount',
  'endpointAmount',
  'clusterGpuAmount',
  'clusterDiskAmount',
  'clusterNetworkingAmount',
] as const

export const ListBillingResponse = listOf('', amountsOf(...AGGREGATE_AMOUNTS), NO_NAMES)
export const ListPodBillingResponse = listOf(
  'Pod',
  amountsOf('totalAmount', 'gpuAmount', 'cpuAmount', 'diskAmount'),
  namesOf('podId', 'uniquePodCount'),
)
export const ListServerlessBillingResponse = listOf(
  'Serverless',
  amountsOf('totalAmount', 'gpuAmount', 'cpuAmount', 'diskAmount', 'feeAmount'),
  namesOf('serverlessId', 'uniqueServerlessCount'),
)
export const ListEndpointBillingResponse = listOf('Endpoint', amountsOf('totalAmount'), NO_NAMES)
export const ListNetworkVolumeBillingResponse = listOf(
  'NetworkVolume',
  amountsOf('totalAmount', 'standardAmount', 'highPerformanceAmount'),
  namesOf('networkVolumeId', 'uniqueNetworkVolumeCount'),
)
export const ListClusterBillingResponse = listOf(
  'Cluster',
  amountsOf('totalAmount', 'gpuAmount', 'diskAmount', 'networkingAmount'),
  namesOf('clusterId', 'uniqueClusterCount'),
)
