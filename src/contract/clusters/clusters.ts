import { z } from 'zod'
import { ListedSpend } from '../billing/listed-spend.ts'
import { CLUSTER_DEFAULTS } from '../defaults.ts'
import { CLUSTER_TYPES } from '../enums.ts'
import { WhyOptions } from '../explain-options.ts'
import { DataCenterIds, Name, ResourceId, Timestamp, wholeNumber } from '../fields.ts'
import { containerRequestFields } from '../pods/container.ts'
import { NetworkMount, PersistentMount } from '../pods/mounts.ts'
import { POD_EXAMPLE } from '../pods/pod-example.ts'
import { OnHostLoss, PodStatus } from '../pods/pod-parts.ts'
import { Pod } from '../pods/pods.ts'
import { queryFlag } from '../query-values.ts'

/** Bounds on the members of one cluster (CLU-2). */
export const MIN_MEMBERS = 2
export const MAX_MEMBERS = 250

export const ClusterType = z.enum(CLUSTER_TYPES).meta({
  id: 'ClusterType',
  description: '`SLURM` and `RAY` give their members roles and files; `TRAINING` and `APPLICATION` do not.',
  example: 'TRAINING',
})

export const ClusterCompute = z
  .strictObject({
    gpuTypeId: ResourceId,
    gpuCountPerPod: wholeNumber(1).meta({ description: 'GPUs of each member.' }),
    podCount: z.number().int().min(MIN_MEMBERS).max(MAX_MEMBERS).meta({ description: 'Members.' }),
  })
  .meta({ id: 'ClusterCompute', example: { gpuTypeId: 'NVIDIA GeForce RTX 4090', gpuCountPerPod: 1, podCount: 3 } })

const ClusterMounts = z
  .strictObject({
    persistent: PersistentMount.optional().meta({ description: 'For each member, on its own host; not beside `network`.' }),
    network: z.array(NetworkMount).max(1).optional().meta({ description: 'At most one; all members share it.' }),
  })
  .meta({ id: 'ClusterMounts', example: { network: [{ volumeId: '9x4m2p7v1k8h3d', path: '/data' }] } })

const { registry: _registry, ...container } = containerRequestFields
const EXAMPLE = {
  name: 'llama-sft',
  type: 'TRAINING',
  compute: { gpuTypeId: 'NVIDIA GeForce RTX 4090', gpuCountPerPod: 1, podCount: 3 },
  image: 'registry.example.com/pytorch:2',
  cmd: ['torchrun', 'train.py'],
  disk: 50,
}

export const CreateClusterRequest = z
  .strictObject({
    ...container,
    name: Name,
    type: ClusterType,
    compute: ClusterCompute,
    dataCenterIds: DataCenterIds.optional().meta({
      description: 'In order of preference; empty for any. All members are in one data center.',
    }),
    mounts: ClusterMounts.optional(),
    onHostLoss: OnHostLoss.optional().meta({
      description: 'Applies to each member, which keeps its rank and address. `REPLACE` excludes a persistent mount.',
      default: CLUSTER_DEFAULTS.onHostLoss,
    }),
    startJupyter: z.boolean().optional().meta({ description: 'For every member, as with pods.', default: CLUSTER_DEFAULTS.startJupyter }),
    startSsh: z.boolean().optional().meta({ description: 'For every member, as with pods.', default: CLUSTER_DEFAULTS.startSsh }),
    templateId: ResourceId.optional().meta({
      description: 'A pod template for every member, instead of a container configuration. Members can use only its registry credential.',
    }),
  })
  .meta({ id: 'CreateClusterRequest', description: '`image` unless `templateId` is set.', example: EXAMPLE })
export type CreateClusterRequest = z.infer<typeof CreateClusterRequest>

export const UpdateClusterRequest = z
  .strictObject({ name: Name.optional() })
  .refine((body) => Object.keys(body).length > 0, { error: 'minProperties: got 0, want 1' })
  .meta({ id: 'UpdateClusterRequest', minProperties: 1, example: { name: 'llama-sft-2' } })
export type UpdateClusterRequest = z.infer<typeof UpdateClusterRequest>

const ClusterNetwork = z
  .strictObject({
    cidr: z.string(),
    vxlanId: z.number().int().optional().meta({ description: 'Number of the network on the wire between hosts.' }),
    vxlanPort: z.number().int().optional().meta({ description: 'UDP port of the tunnels between hosts.' }),
  })
  .meta({ id: 'ClusterNetwork', example: { cidr: '10.64.3.0/24', vxlanId: 1_048_579, vxlanPort: 4789 } })

const ClusterPrimary = z
  .strictObject({
    podId: z.string(),
    status: PodStatus,
    sshEndpoint: z.string().optional().meta({ description: '`host:port`, while the member is RUNNING and its `22/tcp` is published.' }),
  })
  .meta({ id: 'ClusterPrimary', example: { podId: '7h9k2m4n6p1q3r', status: 'RUNNING', sshEndpoint: '195.26.233.3:34446' } })

const ClusterPodsSummary = z
  .strictObject({
    total: wholeNumber(0),
    byStatus: z
      .record(z.string(), wholeNumber(0))
      .meta({ description: 'Number of members by status; statuses without members are omitted.' }),
  })
  .meta({ id: 'ClusterPodsSummary', example: { total: 3, byStatus: { RUNNING: 3 } } })

const CLUSTER_EXAMPLE = {
  id: '4q8w2e6r1t5y9u',
  name: EXAMPLE.name,
  type: EXAMPLE.type,
  compute: EXAMPLE.compute,
  pods: { total: 3, byStatus: { RUNNING: 3 } },
  dataCenterId: 'US-KS-2',
  network: { cidr: '10.64.3.0/24', vxlanId: 1_048_579, vxlanPort: 4789 },
  primary: { podId: '7h9k2m4n6p1q3r', status: 'RUNNING', sshEndpoint: '195.26.233.3:34446' },
  onHostLoss: 'WAIT',
  createdAt: '2026-06-01T12:00:00Z',
}

export const Cluster = z
  .object({
    id: z.string(),
    name: z.string(),
    type: ClusterType,
    compute: ClusterCompute,
    pods: ClusterPodsSummary,
    template: z.string().optional().meta({ description: 'The template of its members; omitted if there was none.' }),
    dataCenterId: z.string().optional(),
    network: ClusterNetwork.optional().meta({ description: 'Omitted until the members can reach one another.' }),
    primary: ClusterPrimary.optional().meta({ description: 'The member of rank 0.' }),
    onHostLoss: OnHostLoss,
    createdAt: Timestamp,
    spend: ListedSpend.optional(),
  })
  .meta({ id: 'Cluster', description: 'Identical pods in one data center with a private network.', example: CLUSTER_EXAMPLE })
export type Cluster = z.infer<typeof Cluster>

/** One page without a cursor: a budget bounds the number of clusters (CLU-1). */
export const ListClustersResponse = z
  .object({ clusters: z.array(Cluster) })
  .meta({ id: 'ListClustersResponse', example: { clusters: [CLUSTER_EXAMPLE] } })

/** One page without a cursor: `MAX_MEMBERS` bounds a cluster's members (CLU-1). */
export const ListClusterPodsResponse = z.object({ pods: z.array(Pod) }).meta({ id: 'PodList', example: { pods: [POD_EXAMPLE] } })

const ClusterHost = z
  .object({
    hostId: z.string(),
    members: wholeNumber(0),
    failed: z.array(z.string()).meta({ description: 'The constraints that a member violates there.' }),
  })
  .meta({ id: 'ClusterPlacementHost', example: { hostId: 'host_Zk3v9QpL0aT7xW2c', members: 2, failed: [] } })

export const ClusterPlacementPreview = z
  .object({
    fits: z.boolean(),
    dataCenterId: z.string().nullable().meta({ description: 'The placement of all members now; null: none.' }),
    cost: z.number().meta({ description: 'USD per hour of all members.', format: 'float' }),
    missing: z.array(z.string()).meta({ description: 'Missing capacity, if the cluster does not fit.' }),
    hosts: z.array(ClusterHost).meta({ description: 'Checked hosts, suitable ones first; the names are only for this account.' }),
    options: WhyOptions,
  })
  .meta({
    id: 'ClusterPlacementPreview',
    description: 'A placement preview of a cluster. Nothing is reserved.',
    example: {
      fits: true,
      dataCenterId: 'US-KS-2',
      cost: 2.07,
      missing: [],
      hosts: [{ hostId: 'host_Zk3v9QpL0aT7xW2c', members: 3, failed: [] }],
      options: [],
    },
  })
export type ClusterPlacementPreview = z.infer<typeof ClusterPlacementPreview>

export const CreateClusterQuery = z.object({
  dryRun: queryFlag().meta({
    description: 'Return the placement or the missing capacity, and create nothing.',
    param: { name: 'dryRun', in: 'query' },
  }),
})
