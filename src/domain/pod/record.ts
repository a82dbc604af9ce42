import type { Cloud, ClusterType, HostLossPolicy } from '../../contract/enums.ts'
import type { ContainerSpec } from '../resources/container.ts'
import type { IdleStop } from './idle-stop.ts'

/** Pod settings that a user asked for, as stored in D1 (POD-3). Results of placement are in separate columns. */
export interface PodSpec {
  container: ContainerSpec
  /** Variables for access to the pod, generated at create and independent of later changes of `env` (POD-20). Absent: none. */
  accessEnv?: Record<string, string>
  /** Whether the pod was created with `startSsh`; without it SSH is not available (NET-5). */
  startSsh?: true
  compute: PodGpu | PodCpu
  cloud: Cloud
  /** In order of preference; empty: any (POD-3). */
  dataCenterIds: string[]
  mounts: PodMounts
  globalNetworking: boolean
  /** Of a member of a cluster: facts about the cluster that its container gets (ENV-3). Absent: the pod is no member. */
  cluster?: { type: ClusterType; podCount: number }
  /** Policy for the pod when its host is lost for good. */
  onHostLoss: HostLossPolicy
  /** The platform stops the pod after it has been idle for this long (SPD-5). Absent: never. */
  idleStop?: IdleStop
  /** Whether the pod was rented as interruptible. The plane never interrupts it; older interfaces show the field. Absent: it was not. */
  interruptible?: true
  /** Previous hosts of the pod, newest first; their histories hold its usage there (HIS-6). Absent: none. */
  formerHosts?: string[]
}

/** GPU compute of a stored pod. */
export interface PodGpu {
  kind: 'gpu'
  typeId: string
  count: number
  allowedCudaVersions: string[]
  minCudaVersion: string | null
  minRamGbPerGpu: number | null
  minVcpuPerGpu: number | null
}

/** CPU compute of a stored pod. */
export interface PodCpu {
  kind: 'cpu'
  flavorId: string
  vcpuCount: number
  /** Derived from the flavor (POD-8). */
  memoryGb: number
}

/** Mounts of a stored pod, at most one of each kind. */
export interface PodMounts {
  persistent?: { sizeGb: number; path: string }
  network?: { volumeId: string; path: string }
  global?: { volumeId: string; path: string }
}
