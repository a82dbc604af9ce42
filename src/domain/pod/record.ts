import type { Cloud, ClusterType, HostLossPolicy } from '../../contract/enums.ts'
import type { ContainerSpec } from '../resources/container.ts'
import type { IdleStop } from './idle-stop.ts'

/** What a user asked for, as D1 keeps it (POD-3). What placement made of it stands in columns beside it. */
export interface PodSpec {
  container: ContainerSpec
  /** How its user gets in: variables that were made for it at create and stay whatever becomes of `env` (POD-20). Absent: none. */
  accessEnv?: Record<string, string>
  /** It was created with `startSsh`: without it no SSH leads in (NET-5). */
  startSsh?: true
  compute: PodGpu | PodCpu
  cloud: Cloud
  /** In order of preference; empty: any (POD-3). */
  dataCenterIds: string[]
  mounts: PodMounts
  globalNetworking: boolean
  /** Of a member: what it has to know of its cluster (ENV-3). Absent: it is no member. */
  cluster?: { type: ClusterType; podCount: number }
  /** What becomes of the pod when its host is lost for good. */
  onHostLoss: HostLossPolicy
  /** The platform stops it when it has done nothing for so long (SPD-5). Absent: never. */
  idleStop?: IdleStop
  /** It was rented as one that may be taken away; nothing takes it away here, and older interfaces show the word. Absent: it was not. */
  interruptible?: true
  /** Hosts that it was on before, newest first: what it used there stands in their history (HIS-6). Absent: none. */
  formerHosts?: string[]
}

export interface PodGpu {
  kind: 'gpu'
  typeId: string
  count: number
  allowedCudaVersions: string[]
  minCudaVersion: string | null
  minRamGbPerGpu: number | null
  minVcpuPerGpu: number | null
}

export interface PodCpu {
  kind: 'cpu'
  flavorId: string
  vcpuCount: number
  /** Derived from the flavor (POD-8). */
  memoryGb: number
}

export interface PodMounts {
  persistent?: { sizeGb: number; path: string }
  network?: { volumeId: string; path: string }
  global?: { volumeId: string; path: string }
}
