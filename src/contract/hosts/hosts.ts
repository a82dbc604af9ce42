import { z } from 'zod'
import { orChangePlan } from '../change-plan.ts'
import { JOIN_DEFAULTS } from '../defaults.ts'
import { CLOUDS, HOST_HEALTHS, HOST_STATUSES } from '../enums.ts'
import { DataCenterId, Name, Note, Timestamp } from '../fields.ts'
import { HostPrivateNetworks, PRIVATE_NETWORKS } from './private-networks.ts'

/** Data center of a host whose operator names none. */
export const DEFAULT_DATA_CENTER_ID = JOIN_DEFAULTS.dataCenterId
/** Lifetime of a join token. */
export const JOIN_TOKEN_TTL_MS = 30 * 60 * 1000

const Cloud = z.enum(CLOUDS).meta({ id: 'HostCloud' })

export const CreateJoinTokenRequest = z
  .strictObject({
    dataCenterId: DataCenterId.optional().meta({ default: DEFAULT_DATA_CENTER_ID }),
    name: Name.max(128).optional().meta({ description: 'Replaces the name that the machine reports.' }),
    cloud: Cloud.optional().meta({ default: JOIN_DEFAULTS.cloud }),
  })
  .meta({ id: 'CreateJoinTokenRequest', example: { dataCenterId: 'EU-RO-1', name: 'gpu-07' } })
export type CreateJoinTokenRequest = z.infer<typeof CreateJoinTokenRequest>

const tokenMembers = {
  id: z.string(),
  name: z.string().nullable(),
  dataCenterId: z.string(),
  cloud: Cloud,
  expiresAt: Timestamp,
}
const TOKEN_EXAMPLE = {
  id: '<token>',
  name: 'gpu-07',
  dataCenterId: 'EU-RO-1',
  cloud: 'SECURE',
  expiresAt: '2026-06-01T12:30:00Z',
} as const

export const NewJoinToken = z
  .object({ token: z.string().meta({ description: 'Lets one machine join, once.' }), ...tokenMembers })
  .meta({ id: 'NewJoinToken', example: { token: 'ppj_<random>', ...TOKEN_EXAMPLE } })
export type NewJoinToken = z.infer<typeof NewJoinToken>

export const JoinToken = z
  .object({ ...tokenMembers, createdAt: Timestamp, usedAt: Timestamp.nullable(), usedByHostId: z.string().nullable() })
  .meta({
    id: 'JoinToken',
    description: 'A join token without its secret.',
    example: { ...TOKEN_EXAMPLE, createdAt: '2026-06-01T12:00:00Z', usedAt: null, usedByHostId: null },
  })
export type JoinToken = z.infer<typeof JoinToken>

export const ListJoinTokensResponse = z
  .object({ joinTokens: z.array(JoinToken) })
  .meta({ id: 'ListJoinTokensResponse', example: { joinTokens: [] } })

export const CordonRequest = z
  .strictObject({ reason: Note.optional().meta({ description: 'Shown with the host.' }) })
  .meta({ id: 'CordonRequest', example: { reason: 'fan replacement' } })
export type CordonRequest = z.infer<typeof CordonRequest>

const Amount = z.object({ total: z.number(), free: z.number() }).meta({ id: 'HostAmount', example: { total: 16, free: 8 } })

const GPU = { typeId: 'NVIDIA L4', total: 2, free: 1, simulated: false, driverVersion: '570.124.06', cudaVersion: '12.8' }

export const HostGpu = z
  .object({
    typeId: z.string(),
    total: z.number().int(),
    free: z.number().int(),
    simulated: z.boolean(),
    driverVersion: z.string().nullable(),
    cudaVersion: z.string().nullable(),
  })
  .meta({
    id: 'HostGpu',
    example: GPU,
  })

export const HostHealth = z.enum(HOST_HEALTHS).meta({
  id: 'HostHealth',
  description:
    '`SUSPECT`: no beat for 15 s, or offline. `LOST`: offline for 5 min (`HOST_LOST_AFTER_MS`). `UNHEALTHY`: beating, but something is wrong with its GPUs, its desired state is too large to send, or within the last hour another agent process took its link.',
})

const LinkReplacements = z
  .object({ count: z.number().int(), lastAt: Timestamp.nullable(), lastAddress: z.string().nullable() })
  .meta({ id: 'HostLinkReplacements', example: { count: 1, lastAt: '2026-06-01T12:00:00Z', lastAddress: '203.0.113.9' } })

const Cordon = z
  .object({ at: Timestamp, by: z.enum(['operator', 'health']), reason: z.string().nullable() })
  .meta({ id: 'HostCordon', example: { at: '2026-06-01T12:00:00Z', by: 'health', reason: 'gpu 2: uncorrectable ECC errors' } })
const Problem = z
  .object({ gpu: z.number().int().nullable().meta({ description: 'Index on the machine; null for all of them.' }), problem: z.string() })
  .meta({ id: 'HostGpuProblem', example: { gpu: 2, problem: 'uncorrectable ECC errors' } })

const ISOLATION = {
  runtimeClass: 'runc',
  userNamespaces: false,
  network: true,
  networkReason: null,
  trustedTenants: false,
  missing: ['user namespaces: the container engine runs without "userns-remap"'],
}

const HostIsolation = z
  .object({
    runtimeClass: z.string().nullable().meta({ description: 'Container runtime: `runc`, `runsc` or `kata`.' }),
    userNamespaces: z.boolean().nullable().meta({ description: 'Root inside a container is an unprivileged user of the machine.' }),
    network: z
      .boolean()
      .nullable()
      .meta({ description: 'Containers cannot reach containers of other accounts, the host, or private networks behind it.' }),
    networkReason: z.string().nullable().meta({ description: 'Why the containers are not isolated.' }),
    trustedTenants: z.boolean().meta({ description: 'The operator has declared that the accounts of this host trust one another.' }),
    missing: z.array(z.string()).meta({ description: 'Other rules that this host cannot enforce, one per line.' }),
  })
  .meta({
    id: 'HostIsolation',
    example: ISOLATION,
  })

const WorkerTransport = z
  .object({
    endpointId: z.string(),
    transport: z
      .enum(['CHANNEL', 'HTTP'])
      .meta({ description: '`CHANNEL`: one WebSocket carries the calls of all workers of the endpoint.' }),
  })
  .meta({ id: 'HostWorkerTransport', example: { endpointId: 'x6g2k8m4q1z9d3', transport: 'HTTP' } })

export const Host = z
  .object({
    id: z.string(),
    name: z.string(),
    dataCenterId: z.string(),
    cloud: Cloud,
    status: z.enum(HOST_STATUSES),
    health: HostHealth,
    statusReason: z.string().nullable().meta({ description: 'Problem of the host, apart from its GPUs; null: no known problem.' }),
    linkReplacements: LinkReplacements.nullable().meta({
      description:
        'How often another agent process replaced the connection of this host while it was in use; null in a list of more than 100 hosts.',
    }),
    cordon: Cordon.nullable().meta({ description: 'Why no new work is placed on it; null: it accepts new work.' }),
    draining: z.boolean().meta({ description: 'Whether it is draining: its workloads move to other hosts or end.' }),
    workloads: z
      .object({ workers: z.number().int(), pods: z.number().int() })
      .meta({ id: 'HostWorkloads', description: 'Workloads that hold capacity there.', example: { workers: 2, pods: 1 } }),
    simulated: z.boolean().meta({ description: 'True when any capacity of the host is simulated.' }),
    gpus: z.array(HostGpu),
    vcpu: Amount,
    memoryGb: Amount,
    diskGb: Amount,
    runtimes: z.array(z.string()),
    sharedVolumes: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Kinds of shared volumes that are set up there, `network` and `global`; null: not reported by its agent.' }),
    sizesEnforced: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Kinds of volumes whose sizes are enforced by a file system; the sizes of other kinds are reservations.' }),
    isolation: HostIsolation.meta({
      description: 'Isolation of workloads from the machine and from one another; null in it: not reported by its agent.',
    }),
    privateNetworks: HostPrivateNetworks.nullable().meta({
      description: 'Its role in clusters and global networking; null: its agent does not report it.',
    }),
    workerTransports: z.array(WorkerTransport).nullable().meta({
      description: 'How the calls of its workers reach the plane, by endpoint; null: not reported, or in a list of more than 100 hosts.',
    }),
    gpuProblems: z.array(Problem),
    publicIp: z.string().nullable(),
    portRange: z
      .object({ from: z.number().int(), to: z.number().int() })
      .meta({ id: 'HostPortRange', example: { from: 30000, to: 32767 } }),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.nullable().meta({ description: 'Last beat; in a list of more than 100 hosts when it last came online.' }),
  })
  .meta({
    id: 'Host',
    description: 'A machine that offers capacity.',
    example: {
      id: 'h7q1w3e4k8h2m9',
      name: 'gpu-07',
      dataCenterId: 'EU-RO-1',
      cloud: 'SECURE',
      status: 'ONLINE',
      health: 'HEALTHY',
      statusReason: null,
      linkReplacements: { count: 0, lastAt: null, lastAddress: null },
      cordon: null,
      draining: false,
      workloads: { workers: 0, pods: 1 },
      simulated: false,
      gpus: [GPU],
      vcpu: { total: 16, free: 8 },
      memoryGb: { total: 64, free: 48 },
      diskGb: { total: 500, free: 480 },
      runtimes: ['docker'],
      sharedVolumes: ['network'],
      sizesEnforced: ['persistent', 'network'],
      isolation: ISOLATION,
      privateNetworks: PRIVATE_NETWORKS,
      workerTransports: [{ endpointId: 'x6g2k8m4q1z9d3', transport: 'HTTP' }],
      gpuProblems: [],
      publicIp: '203.0.113.7',
      portRange: { from: 30_000, to: 32_767 },
      createdAt: '2026-06-01T12:00:00Z',
      lastSeenAt: '2026-06-01T12:00:05Z',
    },
  })
export type Host = z.infer<typeof Host>

export const ListHostsResponse = z.object({ hosts: z.array(Host) }).meta({ id: 'ListHostsResponse', example: { hosts: [] } })

/** Answer of a change: the host, or with `dryRun` the plan (DRY-4). */
export const HostOrChangePlan = orChangePlan('HostOrChangePlan', Host)
