import { z } from 'zod'
import { CLOUDS } from '../enums.ts'

// Bodies of API v1: names and types of members (LEG-5). The verbs of v2 check the values.

const Text = z.string()
const Texts = z.array(Text)
const Flag = z.boolean()
const Whole = z.number().int()
const Variables = z.record(Text, Text)
/** Alternatives that a create tries in turn: each costs a placement. */
const Candidates = z.array(z.string().min(1)).max(16)
const Priority = z.enum(['availability', 'custom'])

const container = {
  imageName: Text,
  containerDiskInGb: Whole,
  containerRegistryAuthId: Text,
  dockerEntrypoint: Texts,
  dockerStartCmd: Texts,
  env: Variables,
  ports: Texts,
}
const volume = { volumeInGb: Whole.min(0), volumeMountPath: Text }
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

export const V1UpdatePod = z.strictObject({ ...container, ...volume, globalNetworking: Flag, locked: Flag, name: Text }).partial()
export type V1UpdatePod = z.infer<typeof V1UpdatePod>

const endpoint = {
  allowedCudaVersions: Texts,
  cpuFlavorIds: Candidates,
  dataCenterIds: Texts,
  env: Variables,
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

const template = {
  ...container,
  ...volume,
  category: z.enum(['CPU', 'NVIDIA', 'AMD']),
  isPublic: Flag,
  isServerless: Flag,
  name: Text,
  readme: Text,
}

export const V1CreateTemplate = z.strictObject(template).partial().required({ name: true, imageName: true })
export type V1CreateTemplate = z.infer<typeof V1CreateTemplate>

export const V1UpdateTemplate = z.strictObject(template).partial()
export type V1UpdateTemplate = z.infer<typeof V1UpdateTemplate>

export const V1CreateVolume = z.strictObject({ name: Text, size: Whole, dataCenterId: Text })
export type V1CreateVolume = z.infer<typeof V1CreateVolume>

export const V1UpdateVolume = z.strictObject({ name: Text, size: Whole }).partial()
export type V1UpdateVolume = z.infer<typeof V1UpdateVolume>

export const V1CreateRegistry = z.strictObject({ name: Text, username: Text, password: Text })
export type V1CreateRegistry = z.infer<typeof V1CreateRegistry>
