const CONTAINER_INPUT = `
  name: String
  imageName: String
  "Command in stored form: a shell text, or a JSON object with entrypoint and cmd."
  dockerArgs: String
  env: [EnvironmentVariableInput]
  "Comma-separated, such as 22/tcp,8888/http."
  ports: String
  containerDiskInGb: Int
  "0: no persistent volume."
  volumeInGb: Int
  volumeMountPath: String
  containerRegistryAuthId: String
  "All labels of the pod; an empty list removes them."
  labels: [PodLabelInput]`

const DEPLOY_INPUT = `${CONTAINER_INPUT}
  cloudType: CloudType
  gpuTypeId: String
  "Tried in this order, after gpuTypeId."
  gpuTypeIdList: [String]
  gpuCount: Int
  "vCPUs of the whole pod."
  minVcpuCount: Int
  "GB of memory of the whole pod."
  minMemoryInGb: Int
  templateId: String
  networkVolumeId: String
  dataCenterId: String
  dataCenterIds: [String]
  countryCode: String
  allowedCudaVersions: [String]
  minCudaVersion: String
  cudaVersion: String
  startSsh: Boolean
  startJupyter: Boolean
  globalNetwork: Boolean
  "RFC 3339."
  stopAfter: String
  "RFC 3339."
  terminateAfter: String
  "At most one."
  objectMounts: [ObjectMountInput]
  "Accepted without effect."
  supportPublicIp: Boolean
  "Accepted without effect: pods have the catalog price."
  bidPerGpu: Float
  "Accepted without effect: pods have the catalog price."
  deployCost: Float
  "Accepted without effect."
  minDownload: Int
  "Accepted without effect."
  minUpload: Int
  "Accepted without effect."
  minDisk: Int
  "Accepted without effect."
  volumeKey: String
  "Only data centers with all of these certifications."
  compliance: [String]`

/** Pods. */
export const PODS = `enum CloudType {
  "SECURE, or COMMUNITY if SECURE has no capacity."
  ALL
  SECURE
  COMMUNITY
}

enum PodStatus {
  RUNNING
  EXITED
  TERMINATED
}

enum PodType {
  INTERRUPTABLE
  RESERVED
}

type Pod {
  id: String!
  name: String
  imageName: String
  dockerArgs: String
  dockerId: String
  "Each KEY=value."
  env: [String]
  "Comma-separated."
  ports: String
  port: Int
  desiredStatus: PodStatus
  lastStatusChange: String
  lastStartedAt: String
  podType: PodType @cost(weight: 2)
  costPerHr: Float
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  gpuCount: Int
  vcpuCount: Float
  memoryInGb: Float
  uptimeSeconds: Int
  containerRegistryAuthId: String
  networkVolumeId: String
  templateId: String
  "An alias of its machine, only for this account."
  machineId: String @cost(weight: 2)
  machine: PodMachineInfo @cost(weight: 2)
  "Null unless the pod runs."
  runtime: PodRuntime @cost(weight: 2)
  createdAt: String
  locked: Boolean
  labels: [PodLabel]
  "Rank in its cluster."
  clusterIdx: Int
  "PRIMARY or SECONDARY."
  clusterRole: String
  clusterIp: String
  clusterId: String
}

type PodLabel {
  key: String
  value: String
}

type PodMachineInfo {
  "User name at the SSH proxy."
  podHostId: String @cost(weight: 2)
  gpuTypeId: String
  gpuDisplayName: String
  "Data center."
  location: String
  dataCenterId: String
  secureCloud: Boolean
  costPerHr: Float
}

type PodRuntime {
  uptimeInSeconds: Int
  ports: [PodRuntimePort] @listSize(assumedSize: 5)
  gpus: [PodRuntimeGpu] @listSize(assumedSize: 8)
  container: PodRuntimeContainer
}

type PodRuntimePort {
  ip: String
  isIpPublic: Boolean
  privatePort: Int
  publicPort: Int
  type: String
}

type PodRuntimeGpu {
  id: String
  gpuUtilPercent: Float
  memoryUtilPercent: Float
}

type PodRuntimeContainer {
  cpuPercent: Float
  memoryPercent: Float
}

input PodFilter {
  podId: String
}

input PodLabelInput {
  key: String
  value: String
}

input ObjectMountInput {
  objectStoreId: String
  mountPath: String
}

input PodFindAndDeployOnDemandInput {${DEPLOY_INPUT}
}

input PodRentInterruptableInput {${DEPLOY_INPUT}
}

input DeployCpuPodInput {
  "<flavor>-<vCPUs>-<GB>, such as cpu3c-2-4."
  instanceId: String${DEPLOY_INPUT}
}

input PodResumeInput {
  podId: String
  "New number of GPUs, limited by the capacity of its machine."
  gpuCount: Int
  "Accepted without effect: a pod starts on its own host."
  allowedCudaVersions: [String]
  "Accepted without effect."
  syncMachine: Boolean
}

input PodBidResumeInput {
  podId: String
  "As in podResume."
  gpuCount: Int
  "Accepted without effect: pods have the catalog price."
  bidPerGpu: Float
}

input PodStopInput {
  podId: String
  "Accepted without effect."
  incrementVersion: Boolean
}

input PodTerminateInput {
  podId: String
}

"Omitted members stay unchanged."
input PodEditJobInput {
  podId: String
  "Accepted without effect."
  port: Int${CONTAINER_INPUT}
}
`
