// Values that answers, columns and rules share, each list once, in the order in which documents show them.

export const POD_STATUSES = ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED'] as const
export type PodStatus = (typeof POD_STATUSES)[number]

export const POD_ACTIONS = ['start', 'stop', 'restart', 'terminate'] as const
export type PodAction = (typeof POD_ACTIONS)[number]

/** Owner of a machine: a data center, or a third party that lends it. */
export const CLOUDS = ['SECURE', 'COMMUNITY'] as const
export type Cloud = (typeof CLOUDS)[number]

/** Compute that a template is for: display only (TPL-2). */
export const TEMPLATE_CATEGORIES = ['CPU', 'NVIDIA', 'AMD'] as const
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number]

export const CLUSTER_TYPES = ['APPLICATION', 'TRAINING', 'SLURM', 'RAY'] as const
export type ClusterType = (typeof CLUSTER_TYPES)[number]

/** Role of a cluster member, in cluster types that have roles. */
export const CLUSTER_ROLES = ['SLURM_CONTROLLER', 'SLURM_COMPUTE', 'RAY_HEAD', 'RAY_WORKER'] as const
export type ClusterRole = (typeof CLUSTER_ROLES)[number]

/**
 * Policy for a pod or member whose host is lost. WAIT: it waits for the host's return. REPLACE: it starts on another host, with an empty
 * container disk.
 */
export const HOST_LOSS_POLICIES = ['WAIT', 'REPLACE'] as const
export type HostLossPolicy = (typeof HOST_LOSS_POLICIES)[number]

/** Permission of a key: all rights of its maker, all read rights, or its scopes only. */
export const PERMISSIONS = ['ALL', 'READ_ONLY', 'RESTRICTED'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** Clouds in which workers of an endpoint may run. */
export const ENDPOINT_CLOUDS = [...CLOUDS, 'ALL'] as const
export type EndpointCloud = (typeof ENDPOINT_CLOUDS)[number]

export const JOB_STATES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const
export type JobState = (typeof JOB_STATES)[number]

export const WORKER_STATUSES = ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'] as const
export type WorkerStatus = (typeof WORKER_STATUSES)[number]

/** Whether an enrolled host has a link to the plane. */
export const HOST_STATUSES = ['ONLINE', 'OFFLINE'] as const
export type HostStatus = (typeof HOST_STATUSES)[number]

export const HOST_HEALTHS = ['HEALTHY', 'SUSPECT', 'UNHEALTHY', 'LOST'] as const
export type HostHealth = (typeof HOST_HEALTHS)[number]

export const FLASHBOOTS = ['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'] as const
export type FlashBoot = (typeof FLASHBOOTS)[number]

export const VOLUME_TYPES = ['STANDARD', 'HIGH_PERFORMANCE'] as const
export type VolumeType = (typeof VOLUME_TYPES)[number]

export const REGIONS = [
  'NORTH_AMERICA',
  'SOUTH_AMERICA',
  'EUROPE',
  'ASIA',
  'MIDDLE_EAST',
  'AFRICA',
  'OCEANIA',
  'ANTARCTICA',
  'UNKNOWN',
] as const
export type Region = (typeof REGIONS)[number]

export const COMPLIANCES = [
  'GDPR',
  'ISO_IEC_27001',
  'ISO_14001',
  'PCI_DSS',
  'HITRUST',
  'SOC_1_TYPE_2',
  'SOC_2_TYPE_2',
  'SOC_3_TYPE_2',
  'ITAR',
  'FISMA_HIGH',
  'HIPAA',
  'RENEWABLE',
] as const
export type Compliance = (typeof COMPLIANCES)[number]

/** Metrics of pods, workers and hosts (HIS-4). */
export const METRIC_NAMES = [
  'cpu',
  'memory',
  'memoryLimit',
  'networkReceived',
  'networkSent',
  'diskRead',
  'diskWritten',
  'disk',
  'diskLimit',
  'gpu',
  'gpuMemory',
  'gpuMemoryLimit',
  'gpuTemperature',
  'gpuPower',
] as const
export type MetricName = (typeof METRIC_NAMES)[number]

export const METRIC_UNITS = ['percent', 'bytes', 'bytesPerSecond', 'celsius', 'watts'] as const
export type MetricUnit = (typeof METRIC_UNITS)[number]
