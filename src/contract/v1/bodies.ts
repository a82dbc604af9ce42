import { z } from 'zod'
import { CLOUDS } from '../enums.ts'
import { container, Flag, Text, Texts, volume, Whole } from '../flat/bodies.ts'

// Bodies of API v1 alone: names and types of members (LEG-5). The verbs of v2 check the values.

/** Alternatives that a create tries in turn: each costs a placement. */
const Candidates = z.array(z.string().min(1)).max(16)
const Priority = z.enum(['availability', 'custom'])

/** Members that are accepted and ignored: see docs/MIGRATION.md. */
const podExtras = {
  interruptible: Flag,
  supportPublicIp: Flag,
  minDownloadMbps: z.number(),
  minUploadMbps: z.number(),
  minDiskBandwidthMBps: z.number(),
}

export const V1CreatePod = z
  .strictObject({
    ...container,
    ...volume,
    ...podExtras,
    allowedCudaVersions: Texts,
    cloudType: z.enum(CLOUDS),
    computeType: z.enum(['GPU', 'CPU']),
    countryCodes: Texts,
    cpuFlavorIds: Candidates,
    cpuFlavorPriority: Priority,
    dataCenterIds: Texts,
    dataCenterPriority: Priority,
    globalNetworking: Flag,
    gpuCount: Whole,
    gpuTypeIds: Candidates,
    gpuTypePriority: Priority,
    locked: Flag,
    minRAMPerGPU: Whole,
    minVCPUPerGPU: Whole,
    name: Text,
    networkVolumeId: Text,
    templateId: Text,
    vcpuCount: Whole,
  })
  .partial()
export type V1CreatePod = z.infer<typeof V1CreatePod>

const endpoint = {
  allowedCudaVersions: Texts,
  cpuFlavorIds: Candidates,
  dataCenterIds: Texts,
  env: z.record(Text, Text),
  executionTimeoutMs: Whole,
  flashboot: Flag,
  gpuCount: Whole,
  gpuTypeIds: Texts,
  idleTimeout: Whole,
  instanceIds: Texts,
  minCudaVersion: Text,
  name: Text,
  networkVolumeId: Text,
  networkVolumeIds: Texts,
  scalerType: z.enum(['QUEUE_DELAY', 'REQUEST_COUNT']),
  scalerValue: Whole,
  templateId: Text,
  vcpuCount: Whole,
  workersMax: Whole,
  workersMin: Whole,
}

export const V1CreateEndpoint = z
  .strictObject({ ...endpoint, computeType: z.enum(['GPU', 'CPU']) })
  .partial()
  .required({ templateId: true })
export type V1CreateEndpoint = z.infer<typeof V1CreateEndpoint>

export const V1UpdateEndpoint = z.strictObject(endpoint).partial()
export type V1UpdateEndpoint = z.infer<typeof V1UpdateEndpoint>

export const V1CreateVolume = z.strictObject({ name: Text, size: Whole, dataCenterId: Text })
export type V1CreateVolume = z.infer<typeof V1CreateVolume>

export const V1UpdateVolume = z.strictObject({ name: Text, size: Whole }).partial()
export type V1UpdateVolume = z.infer<typeof V1UpdateVolume>

export const V1CreateRegistry = z.strictObject({ name: Text, username: Text, password: Text })
export type V1CreateRegistry = z.infer<typeof V1CreateRegistry>
