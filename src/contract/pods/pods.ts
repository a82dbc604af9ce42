import { z } from 'zod'
import { ListedSpend } from '../billing/listed-spend.ts'
import { orChangePlan } from '../change-plan.ts'
import { POD_DEFAULTS } from '../defaults.ts'
import { POD_STATUSES } from '../enums.ts'
import { WhyOptions } from '../explain-options.ts'
import { DataCenterIds, Name, PLAIN_TEXT, ResourceId, Timestamp, wholeNumber } from '../fields.ts'
import { listQueryFields, repeated } from '../list-query.ts'
import { PageQuery, Pagination } from '../pagination.ts'
import { queryFlag } from '../query-values.ts'
import { containerRequestFields, containerResponseFields } from './container.ts'
import { deadlineRequestFields } from './deadlines.ts'
import { idleStopRequestFields, PodIdleStop } from './idle-stop.ts'
import { labelQueryFields, labelRequestFields, labelResponseFields } from './labels.ts'
import { PodMountsRequest, PodMountsView } from './mounts.ts'
import { POD_EXAMPLE } from './pod-example.ts'
import {
  CloudType,
  GlobalNetworking,
  OnHostLoss,
  PodAction,
  PodCluster,
  PodCpuRequest,
  PodCpuView,
  PodGpuRequest,
  PodGpuView,
  PodRuntime,
  PodSsh,
  PodStatus,
} from './pod-parts.ts'

const EXAMPLE = {
  name: 'pytorch-training',
  image: 'registry.example.com/pytorch:2',
  gpu: { id: 'NVIDIA GeForce RTX 4090', count: 1 },
  disk: 50,
  ports: ['8888/http', '22/tcp'],
  env: { MODEL_NAME: 'llama-3' },
  mounts: { persistent: { size: 20, path: '/workspace' } },
  startSsh: true,
}

export const CreatePodRequest = z
  .strictObject({
    ...containerRequestFields,
    name: Name,
    cloud: CloudType.optional().meta({ default: POD_DEFAULTS.cloud }),
    gpu: PodGpuRequest.optional(),
    cpu: PodCpuRequest.optional(),
    dataCenterIds: DataCenterIds.optional().meta({ description: 'In order of preference; empty for any.' }),
    globalNetworking: z.boolean().optional().meta({
      description: 'Gives the pod a private address that other such pods of the account can reach, across data centers.',
      default: POD_DEFAULTS.globalNetworking,
    }),
    mounts: PodMountsRequest.optional(),
    onHostLoss: OnHostLoss.optional().meta({ description: '`REPLACE` not with a persistent mount.', default: POD_DEFAULTS.onHostLoss }),
    startJupyter: z
      .boolean()
      .optional()
      .meta({ description: 'Gives the pod a random `JUPYTER_PASSWORD`, unless `env` has one. A later `env` keeps it.' }),
    ...deadlineRequestFields,
    ...idleStopRequestFields,
    ...labelRequestFields,
    startSsh: z
      .boolean()
      .optional()
      .meta({ description: "Gives the pod the account's SSH keys as `PUBLIC_KEY`, unless `env` has one. A later `env` keeps them." }),
    templateId: ResourceId.optional().meta({ description: 'A pod template for members that the body omits.' }),
  })
  .meta({
    id: 'CreatePodRequest',
    description: 'Exactly one of `gpu` and `cpu`; `image` unless `templateId` is set.',
    example: EXAMPLE,
  })
export type CreatePodRequest = z.infer<typeof CreatePodRequest>

export const UpdatePodRequest = z
  .strictObject({
    ...containerRequestFields,
    name: Name.optional(),
    mounts: PodMountsRequest.optional(),
    locked: z
      .boolean()
      .optional()
      .meta({ description: 'A locked pod cannot be stopped, restarted or recreated (409). It can be terminated.' }),
    globalNetworking: z.boolean().optional().meta({ description: 'As in a create. A change starts the pod in a new container.' }),
    onHostLoss: OnHostLoss.optional(),
    ...deadlineRequestFields,
    ...idleStopRequestFields,
    ...labelRequestFields,
    templateId: z.string().regex(PLAIN_TEXT).optional().meta({ description: "Applied once to the container; not the template's mounts." }),
  })
  .meta({
    id: 'UpdatePodRequest',
    description: 'Omitted members stay unchanged. A changed container is started anew, with an empty container disk, when the pod runs.',
    example: { name: 'pytorch-evaluation', locked: true },
  })
export type UpdatePodRequest = z.infer<typeof UpdatePodRequest>

export const PodActionRequest = z.strictObject({ action: PodAction }).meta({ id: 'PodActionRequest', example: { action: 'stop' } })

export const Pod = z
  .object({
    id: z.string(),
    name: z.string(),
    ...containerResponseFields,
    status: PodStatus,
    statusReason: z.string().nullable().meta({
      description: 'Reason of the status, if no action caused it; or since when its host is silent.',
    }),
    actions: z.array(PodAction).meta({ description: 'Valid in this status; without `stop` and `restart` while the pod is locked.' }),
    mounts: PodMountsView,
    gpu: PodGpuView.optional().meta({ description: 'Only on GPU pods.' }),
    cpu: PodCpuView.optional().meta({ description: 'Only on CPU pods.' }),
    cloud: CloudType,
    dataCenterId: z.string().nullable(),
    cudaVersion: z.string().nullable().meta({ description: 'As its host reports it; it stays while the pod is stopped.' }),
    ssh: PodSsh,
    cluster: PodCluster.optional().meta({ description: 'Only on members of a cluster.' }),
    template: z.string().nullable().meta({ description: 'The template that the pod was created from.' }),
    cost: z
      .number()
      .meta({ description: 'Current USD per hour; 0 while the pod is stopped and while its host is silent.', format: 'float' }),
    locked: z.boolean().meta({ description: 'Whether `stop`, `restart` and a new container are refused.' }),
    globalNetworking: GlobalNetworking,
    onHostLoss: OnHostLoss,
    runtime: z.union([PodRuntime, z.null()]).meta({ description: 'Null unless the pod is RUNNING and its host is connected.' }),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable().meta({ description: 'When its container started; null while it is stopped.' }),
    stopAfter: Timestamp.nullable().meta({ description: 'When the platform stops the pod; null: no automatic stop, or done.' }),
    terminateAfter: Timestamp.nullable().meta({ description: 'When the platform terminates the pod; null: no automatic termination.' }),
    idleStop: z.union([PodIdleStop, z.null()]).meta({ description: 'Idle time after which the platform stops it; null: never.' }),
    ...labelResponseFields,
    spend: ListedSpend.optional(),
  })
  .meta({ id: 'Pod', description: 'A container on a machine.', example: POD_EXAMPLE })
export type Pod = z.infer<typeof Pod>

/** Answer of a change: the pod, or with `dryRun` the plan (DRY-6). */
export const PodOrChangePlan = orChangePlan('PodOrChangePlan', Pod)

/** Most groups of pods with the same reason in the counts of a list (PAG-24). */
export const MAX_REASONS = 10

const PodReason = z
  .object({
    status: PodStatus,
    reason: z.string(),
    count: wholeNumber(1),
    podId: z.string().meta({ description: 'The newest of them.' }),
    podName: z.string(),
  })
  .meta({
    id: 'PodReason',
    description: 'Pods of one status with the same reason.',
    example: { status: 'ERROR', reason: 'image pull failed', count: 12, podId: '7h9k2m4n6p1q3r', podName: 'train-12' },
  })

export const PodCounts = z
  .object({
    total: wholeNumber(0),
    byStatus: z.record(z.string(), wholeNumber(0)).meta({ description: 'Number of pods by status; statuses without pods are omitted.' }),
    reasons: z
      .array(PodReason)
      .meta({ description: `Why pods failed or wait, failures and large groups first, at most ${MAX_REASONS}; of the newest 1000.` }),
  })
  .meta({
    id: 'PodCounts',
    description: 'Counts of all pods of the account, whatever the list is filtered by; cluster members only with `includeClusterPods`.',
    example: { total: 3, byStatus: { RUNNING: 3 }, reasons: [] },
  })
export type PodCounts = z.infer<typeof PodCounts>

export const ListPodsResponse = z
  .object({ pods: z.array(Pod), pagination: Pagination, counts: PodCounts.optional().meta({ description: 'Only with `include=COUNTS`.' }) })
  .meta({ id: 'ListPodsResponse', example: { pods: [POD_EXAMPLE], pagination: { nextCursor: null, hasNextPage: false } } })

const HostPreview = z
  .object({ hostId: z.string(), failed: z.array(z.string()).meta({ description: 'The constraints that the machine violates.' }) })
  .meta({ id: 'PodPlacementHost', example: { hostId: 'host_Zk3v9QpL0aT7xW2c', failed: ['needs 1 free NVIDIA L4'] } })

export const PodPlacementPreview = z
  .object({
    fits: z.boolean(),
    hostId: z.string().nullable().meta({ description: 'The host that would be chosen now; an alias for this account only.' }),
    dataCenterId: z.string().nullable(),
    gpu: PodGpuView.optional(),
    cpu: PodCpuView.optional(),
    cost: z.number().meta({ description: 'USD per hour.', format: 'float' }),
    hosts: z.array(HostPreview).meta({ description: 'Checked hosts, suitable ones first, with the constraints that each violates.' }),
    options: WhyOptions,
  })
  .meta({
    id: 'PodPlacementPreview',
    description: 'A placement preview of a pod. Nothing is reserved.',
    example: {
      fits: false,
      hostId: null,
      dataCenterId: null,
      cost: 0.44,
      hosts: [{ hostId: 'host_Zk3v9QpL0aT7xW2c', failed: ['needs 1 free NVIDIA L4'] }],
      options: [],
    },
  })
export type PodPlacementPreview = z.infer<typeof PodPlacementPreview>

export const ListPodsQuery = PageQuery.extend({
  includeClusterPods: queryFlag().meta({
    description: 'Also members of clusters.',
    param: { name: 'includeClusterPods', in: 'query' },
  }),
  ...labelQueryFields,
  ...listQueryFields,
  status: repeated(PodStatus, POD_STATUSES.length)
    .optional()
    .meta({
      description: 'Only pods of this status; repeated: of any of them.',
      param: { name: 'status', in: 'query', style: 'form', explode: true },
      example: ['RUNNING'],
    }),
  include: z
    .enum(['COUNTS'])
    .optional()
    .meta({ description: 'Adds `counts` of all pods of the account.', param: { name: 'include', in: 'query' } }),
})
export type ListPodsQuery = z.infer<typeof ListPodsQuery>

export const GetPodQuery = z.object({
  waitFor: PodStatus.optional().meta({
    description: 'Respond when the pod has this status, when it cannot reach it without an action, or after 25 s.',
    param: { name: 'waitFor', in: 'query' },
  }),
})

export const CreatePodQuery = z.object({
  dryRun: queryFlag().meta({
    description: 'Return the placement, or the constraints that each host violates, and create nothing.',
    param: { name: 'dryRun', in: 'query' },
  }),
})

export const IfMatchHeaders = z.object({
  'If-Match': z
    .string()
    .optional()
    .meta({
      description: 'Apply the change only if the current `ETag` of the pod is one of these.',
      example: '"3"',
      param: { name: 'If-Match', in: 'header' },
    }),
})
