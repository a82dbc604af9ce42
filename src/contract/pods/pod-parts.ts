import { z } from 'zod'
import { POD_DEFAULTS } from '../defaults.ts'
import { CLOUDS, CLUSTER_ROLES, HOST_LOSS_POLICIES, POD_ACTIONS, POD_STATUSES } from '../enums.ts'
import { CudaVersion, CudaVersions, ResourceId, Timestamp, wholeNumber } from '../fields.ts'

export const PodStatus = z.enum(POD_STATUSES).meta({ id: 'PodStatus', example: 'RUNNING' })

export const PodAction = z.enum(POD_ACTIONS).meta({ id: 'PodAction', example: 'stop' })

export const CloudType = z
  .enum(CLOUDS)
  .meta({ id: 'CloudType', description: 'Hardware of data centers, or of the community.', example: 'SECURE' })

export const OnHostLoss = z.enum(HOST_LOSS_POLICIES).meta({
  id: 'OnHostLoss',
  description: '`WAIT`: the pod waits for the return of its host. `REPLACE`: it is started on another one, with an empty container disk.',
  example: 'WAIT',
})

export const PodGpuRequest = z
  .strictObject({
    id: ResourceId.meta({ description: 'GPU type.' }),
    count: wholeNumber(1).optional().meta({ default: POD_DEFAULTS.gpuCount }),
    allowedCudaVersions: CudaVersions.optional().meta({ description: 'Exact CUDA versions; not together with a floor.' }),
    minCudaVersion: CudaVersion.optional().meta({ description: 'Lowest CUDA version.' }),
    minRamPerGpu: wholeNumber(1).optional().meta({ description: 'GB of memory that the host must have for each GPU.' }),
    minVcpuCountPerGpu: wholeNumber(1).optional().meta({ description: 'vCPUs that the host must have for each GPU.' }),
  })
  .meta({ id: 'PodGpuRequest', example: { id: 'NVIDIA GeForce RTX 4090', count: 1 } })
export type PodGpuRequest = z.infer<typeof PodGpuRequest>

export const PodCpuRequest = z
  .strictObject({
    id: ResourceId.meta({ description: 'CPU flavor.' }),
    vcpuCount: wholeNumber(2).meta({ description: 'A power of two within the range of the flavor.' }),
    memory: wholeNumber(1).optional().meta({ description: 'GB; only the value of the flavor is accepted.' }),
  })
  .meta({ id: 'PodCpuRequest', example: { id: 'cpu3c', vcpuCount: 2 } })
export type PodCpuRequest = z.infer<typeof PodCpuRequest>

export const PodGpuView = z
  .object({
    id: z.string(),
    count: wholeNumber(1),
    vcpuCount: z.number().min(1).meta({ description: 'vCPUs of the whole pod.' }),
    memory: z.number().min(1).meta({ description: 'GB of memory of the whole pod.' }),
  })
  .meta({ id: 'PodGpu', example: { id: 'NVIDIA GeForce RTX 4090', count: 1, vcpuCount: 16, memory: 64 } })

export const PodCpuView = z
  .object({ id: z.string().min(1), vcpuCount: wholeNumber(2), memory: wholeNumber(1) })
  .meta({ id: 'PodCpu', example: { id: 'cpu3c', vcpuCount: 2, memory: 4 } })

export const SshEndpoint = z
  .object({
    host: z.string(),
    port: wholeNumber(0),
    username: z.string(),
    command: z.string().meta({ description: 'Ready to run.' }),
  })
  .meta({
    id: 'SshEndpoint',
    example: { host: '195.26.233.3', port: 34446, username: 'root', command: 'ssh root@195.26.233.3 -p 34446' },
  })
export type SshEndpoint = z.infer<typeof SshEndpoint>

/** A nullable named schema is written as a union: `.nullable()` would make the shared component itself nullable. */
export const PodSsh = z
  .object({
    proxy: z.union([SshEndpoint, z.null()]).meta({ description: 'Through the SSH proxy: a shell only. Null where there is no proxy.' }),
    direct: z
      .union([SshEndpoint, z.null()])
      .meta({ description: 'Through the published `22/tcp` of the running pod; null when it has none.' }),
  })
  .meta({ id: 'PodSsh', example: { proxy: null, direct: null } })
export type PodSsh = z.infer<typeof PodSsh>

export const PodClusterRole = z.enum(CLUSTER_ROLES).meta({ id: 'PodClusterRole', example: 'SLURM_CONTROLLER' })

export const PodCluster = z
  .strictObject({
    id: z.string(),
    rank: wholeNumber(0).nullable().meta({ description: 'From 0; it stays the same when the member moves to another host.' }),
    role: PodClusterRole.optional().meta({ description: 'Only in SLURM and RAY clusters.' }),
    ip: z.string().optional().meta({ description: 'Address in the private network of the cluster.' }),
  })
  .meta({ id: 'PodCluster', example: { id: '4q8w2e6r1t5y9u', rank: 0, role: 'SLURM_CONTROLLER', ip: '10.64.3.2' } })

export const GlobalNetworking = z
  .object({
    enabled: z.boolean(),
    ip: z.string().optional().meta({ description: 'Private address across data centers; only when enabled.' }),
    internalDns: z.string().optional().meta({ description: 'Name for other pods of the account that have it too; only when enabled.' }),
  })
  .meta({ id: 'GlobalNetworking', example: { enabled: true, ip: '10.96.0.2', internalDns: '7h9k2m4n6p8q1r.podplane.internal' } })

const Percent = z.number().int().min(0).max(100)

const PortMapping = z
  .object({
    private: wholeNumber(0),
    public: wholeNumber(0).nullable(),
    type: z.string(),
    ip: z
      .string()
      .nullable()
      .meta({ description: 'Public for `tcp`; within 100.64.0.0/10, so not public, for `http`. Null: its host has none.' }),
  })
  .meta({ id: 'PodPort', example: { private: 22, public: 34446, type: 'tcp', ip: '195.26.233.3' } })

export const PodRuntime = z
  .object({
    uptime: wholeNumber(0).optional().meta({ description: 'Seconds since the container started.' }),
    gpus: z
      .array(z.object({ util: Percent, memoryUtil: Percent }))
      .optional()
      .meta({ description: 'One item a GPU.' }),
    cpu: z.object({ util: Percent }).optional(),
    memory: z.object({ util: Percent }).optional(),
    idleSince: Timestamp.nullable().optional().meta({
      description: 'Since when all its GPUs are at 0 %, or its CPU below 5 % without GPUs; null: it is busy, or unknown.',
    }),
    idleStopAt: Timestamp.nullable().optional().meta({
      description: 'When `idleStop` stops it if it stays idle; null: it is busy, or unknown. Only with `idleStop`.',
    }),
    ports: z.array(PortMapping).optional(),
  })
  .meta({
    id: 'PodRuntime',
    description: 'Current resource use of the pod; values without a recent report of its host are omitted.',
    example: { uptime: 3600, ports: [{ private: 22, public: 34446, type: 'tcp', ip: '195.26.233.3' }] },
  })
export type PodRuntime = z.infer<typeof PodRuntime>
