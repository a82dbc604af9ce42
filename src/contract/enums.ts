// Words that stand in answers, in columns and in rules: each list once. Their order is the one that documents show.

export const POD_STATUSES = ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED'] as const
export type PodStatus = (typeof POD_STATUSES)[number]

export const POD_ACTIONS = ['start', 'stop', 'restart', 'terminate'] as const
export type PodAction = (typeof POD_ACTIONS)[number]

/** Who owns a machine: a data center, or somebody who lends it. */
export const CLOUDS = ['SECURE', 'COMMUNITY'] as const
export type Cloud = (typeof CLOUDS)[number]

export const CLUSTER_TYPES = ['APPLICATION', 'TRAINING', 'SLURM', 'RAY'] as const
export type ClusterType = (typeof CLUSTER_TYPES)[number]

/** What a member of a cluster is, where its type gives roles. */
export const CLUSTER_ROLES = ['SLURM_CONTROLLER', 'SLURM_COMPUTE', 'RAY_HEAD', 'RAY_WORKER'] as const
export type ClusterRole = (typeof CLUSTER_ROLES)[number]

/** Of a pod or a member whose machine is lost. WAIT: kept for its return. REPLACE: started again elsewhere, with an empty container disk. */
export const HOST_LOSS_POLICIES = ['WAIT', 'REPLACE'] as const
export type HostLossPolicy = (typeof HOST_LOSS_POLICIES)[number]

/** What a key may do: all that its maker may, or read all of it, or what its scopes say. */
export const PERMISSIONS = ['ALL', 'READ_ONLY', 'RESTRICTED'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** Where workers of an endpoint may run. */
export const ENDPOINT_CLOUDS = [...CLOUDS, 'ALL'] as const
export type EndpointCloud = (typeof ENDPOINT_CLOUDS)[number]

export const JOB_STATES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const
export type JobState = (typeof JOB_STATES)[number]

export const WORKER_STATUSES = ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'] as const
export type WorkerStatus = (typeof WORKER_STATUSES)[number]

/** Whether a machine that is there has a link. */
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

/** What is measured of pods, workers and machines (HIS-4). */
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
