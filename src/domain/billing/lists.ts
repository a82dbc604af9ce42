import { usdOfMicros } from '../money.ts'
import { type Sums, totalMicros } from './bill.ts'
import type { UsageKind } from './usage.ts'

/** Presents charges in each list of bills (BIL-3, BIL-4). Amounts in USD. Pure. */

const POD = (sums: Sums) => ({
  totalAmount: usdOfMicros(totalMicros(sums)),
  gpuAmount: usdOfMicros(sums.gpuMicros),
  cpuAmount: usdOfMicros(sums.cpuMicros),
  diskAmount: usdOfMicros(sums.diskMicros),
})

/** The plane charges no fee (BIL-12). */
const SERVERLESS = (sums: Sums) => ({ ...POD(sums), feeAmount: 0 })

const NETWORK_VOLUME = (sums: Sums) => ({
  totalAmount: usdOfMicros(totalMicros(sums)),
  standardAmount: usdOfMicros(sums.diskMicros),
  highPerformanceAmount: usdOfMicros(sums.fastMicros),
})

/** A cluster's bill has no CPU amount: `gpuAmount` covers all of its compute (BIL-12). */
const CLUSTER = (sums: Sums) => ({
  totalAmount: usdOfMicros(totalMicros(sums)),
  gpuAmount: usdOfMicros(sums.gpuMicros + sums.cpuMicros),
  diskAmount: usdOfMicros(sums.diskMicros),
  networkingAmount: 0,
})

/** A list with one resource per record, and the names of the fields in it. */
export interface BillList<Amounts, Owner, Filter, Count> {
  kind: UsageKind
  amounts(sums: Sums): Amounts
  owner(id: string): Owner
  filter(id: string | null): Filter
  count(unique: number): Count
}

export const POD_BILLS = {
  kind: 'POD' as const,
  amounts: POD,
  owner: (podId: string) => ({ podId }),
  filter: (podId: string | null) => ({ podId }),
  count: (uniquePodCount: number) => ({ uniquePodCount }),
}
export const SERVERLESS_BILLS = {
  kind: 'SERVERLESS' as const,
  amounts: SERVERLESS,
  owner: (serverlessId: string) => ({ serverlessId }),
  filter: (serverlessId: string | null) => ({ serverlessId }),
  count: (uniqueServerlessCount: number) => ({ uniqueServerlessCount }),
}
export const NETWORK_VOLUME_BILLS = {
  kind: 'NETWORK_VOLUME' as const,
  amounts: NETWORK_VOLUME,
  owner: (networkVolumeId: string) => ({ networkVolumeId }),
  filter: (networkVolumeId: string | null) => ({ networkVolumeId }),
  count: (uniqueNetworkVolumeCount: number) => ({ uniqueNetworkVolumeCount }),
}
export const CLUSTER_BILLS = {
  kind: 'CLUSTER' as const,
  amounts: CLUSTER,
  owner: (clusterId: string) => ({ clusterId }),
  filter: (clusterId: string | null) => ({ clusterId }),
  count: (uniqueClusterCount: number) => ({ uniqueClusterCount }),
}

/** Totals of all kinds, by kind and part (BIL-5). */
export function aggregateAmounts(sumsOf: Readonly<Record<UsageKind, Sums>>) {
  const { POD: pod, SERVERLESS: serverless, NETWORK_VOLUME: volume, CLUSTER: cluster } = sumsOf
  const clusters = CLUSTER(cluster)
  return {
    totalAmount: usdOfMicros([pod, serverless, volume, cluster].reduce((micros, sums) => micros + totalMicros(sums), 0)),
    podGpuAmount: usdOfMicros(pod.gpuMicros),
    podCpuAmount: usdOfMicros(pod.cpuMicros),
    podDiskAmount: usdOfMicros(pod.diskMicros),
    serverlessGpuAmount: usdOfMicros(serverless.gpuMicros),
    serverlessCpuAmount: usdOfMicros(serverless.cpuMicros),
    serverlessDiskAmount: usdOfMicros(serverless.diskMicros),
    serverlessFeeAmount: 0,
    storageStandardAmount: usdOfMicros(volume.diskMicros),
    storageHighPerformanceAmount: usdOfMicros(volume.fastMicros),
    endpointAmount: 0,
    clusterGpuAmount: clusters.gpuAmount,
    clusterDiskAmount: clusters.diskAmount,
    clusterNetworkingAmount: 0,
  }
}
