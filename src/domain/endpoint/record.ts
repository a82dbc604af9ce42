import type { EndpointCloud, FlashBoot } from '../../contract/enums.ts'
import type { ContainerSpec } from '../resources/container.ts'

/** The stored form of a Serverless endpoint: what D1 owns and what the endpoint object keeps a copy of. */
export interface EndpointConfig {
  id: string
  teamId: string
  name: string
  type: 'QUEUE' | 'LOAD_BALANCER'
  /** Release number (END-12): rises when the container or its placement changes. Workers carry the version they run. */
  version: number
  /** Rises with every change of any kind, so that a copy can tell which of two is newer. */
  revision: number
  container: ContainerSpec
  compute: GpuCompute | CpuCompute
  workers: { min: number; max: number; idleTimeoutSeconds: number }
  scaling: { type: 'QUEUE_DELAY'; queueDelay: number } | { type: 'REQUEST_COUNT'; requestCount: number }
  /** Default execution timeout of a job, milliseconds (TMO-2). */
  timeoutMs: number
  /** How long results are kept, milliseconds; absent: the defaults of LIM-4. */
  retention?: { runMs: number; runSyncMs: number }
  flashboot: FlashBoot
  dataCenterIds: string[]
  /** Whose hardware workers may run on; absent, as on endpoints from before there was a choice: SECURE (PP-127). */
  cloud?: EndpointCloud
  networkVolumes: string[]
  /** Which of them lies where, by data center; absent without any (END-20). */
  volumeAt?: Record<string, string>
  /** The template that it counts as made from, which cannot be deleted before it (TPL-5); never shown (END-9). */
  templateId?: string
  /** RFC 3339, seconds precision (GEN-2). */
  createdAt: string
}

export interface GpuCompute {
  kind: 'gpu'
  pools: string[]
  excludedTypes: string[]
  count: number
  allowedCudaVersions: string[]
  minCudaVersion: string | null
}

export interface CpuCompute {
  kind: 'cpu'
  /** In order of preference. */
  options: { id: string; vcpuCount: number }[]
}
