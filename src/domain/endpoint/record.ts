import type { EndpointCloud, FlashBoot } from '../../contract/enums.ts'
import type { ContainerSpec } from '../resources/container.ts'

/** The stored form of a Serverless endpoint: D1 owns it, and the endpoint object has a copy. */
export interface EndpointConfig {
  id: string
  teamId: string
  name: string
  type: 'QUEUE' | 'LOAD_BALANCER'
  /** Release number (END-12): rises when the container or its placement changes. Workers carry the version they run. */
  version: number
  /** Rises with every change of any kind, so that the newer of two copies can be recognized. */
  revision: number
  container: ContainerSpec
  compute: GpuCompute | CpuCompute
  workers: { min: number; max: number; idleTimeoutSeconds: number }
  /** `queueDelay`: seconds that a job may wait before another worker starts (SCALE-2). */
  scaling: { type: 'QUEUE_DELAY'; queueDelay: number } | { type: 'REQUEST_COUNT'; requestCount: number }
  /** Default execution timeout of a job, milliseconds (TMO-2). */
  timeoutMs: number
  /** How long results are retained, milliseconds; absent: the defaults of LIM-4. */
  retention?: { runMs: number; runSyncMs: number }
  flashboot: FlashBoot
  dataCenterIds: string[]
  /** The cloud that workers may run in; absent, as on endpoints stored before the field existed: SECURE (END-31). */
  cloud?: EndpointCloud
  networkVolumes: string[]
  /** The id of the network volume in each data center; absent without any (END-20). */
  volumeAt?: Record<string, string>
  /** The template that the endpoint counts as made from, which cannot be deleted before the endpoint (TPL-5); never shown (END-9). */
  templateId?: string
  /** RFC 3339, seconds precision (GEN-2). */
  createdAt: string
}

/** GPU compute of a worker: GPUs of the pools, in order of preference, without the excluded types. */
export interface GpuCompute {
  kind: 'gpu'
  pools: string[]
  excludedTypes: string[]
  count: number
  allowedCudaVersions: string[]
  minCudaVersion: string | null
}

/** CPU compute of a worker. */
export interface CpuCompute {
  kind: 'cpu'
  /** In order of preference. */
  options: { id: string; vcpuCount: number }[]
}
