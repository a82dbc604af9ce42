const CONTAINER_INPUT = `
  name: String
  imageName: String
  "Command in stored form: a shell text, or a JSON object with entrypoint and cmd."
  dockerArgs: String
  env: [EnvironmentVariableInput]
  "With commas between them, such as 22/tcp,8888/http."
  ports: String
  containerDiskInGb: Int
  "0: no persistent volume."
  volumeInGb: Int
  volumeMountPath: String
  containerRegistryAuthId: String`

const DEPLOY_INPUT = `${CONTAINER_INPUT}
  cloudType: CloudType
  gpuTypeId: String
  "Tried in this order, behind gpuTypeId."
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
  "Taken and without effect."
  supportPublicIp: Boolean
  "Taken and without effect: pods have the price of the catalog."
  bidPerGpu: Float
  "Taken and without effect: pods have the price of the catalog."
  deployCost: Float
  "Taken and without effect."
  minDownload: Int
  "Taken and without effect."
  minUpload: Int
  "Taken and without effect."
  minDisk: Int
  "Taken and without effect."
  volumeKey: String
  "Data centers with all of these marks only."
  compliance: [String]`

/** Pods. */
export const PODS = `enum CloudType {
  "SECURE, and where that has no room COMMUNITY."
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
  "With commas between them."
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
  "A name of its machine, for this account alone."
  machineId: String @cost(weight: 2)
  machine: PodMachineInfo @cost(weight: 2)
  "Null unless the pod runs."
  runtime: PodRuntime @cost(weight: 2)
  createdAt: String
  locked: Boolean
  "Number in its cluster."
  clusterIdx: Int
  "PRIMARY or SECONDARY."
  clusterRole: String
  clusterIp: String
  clusterId: String
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
  "Another number than it has: as far as its own machine has room for them."
  gpuCount: Int
  "Taken and without effect: a pod starts on its own host."
  allowedCudaVersions: [String]
  "Taken and without effect."
  syncMachine: Boolean
}

input PodBidResumeInput {
  podId: String
  "As of podResume."
  gpuCount: Int
  "Taken and without effect: pods have the price of the catalog."
  bidPerGpu: Float
}

input PodStopInput {
  podId: String
  "Taken and without effect."
  incrementVersion: Boolean
}

input PodTerminateInput {
  podId: String
}

"What is left out stays as it is."
input PodEditJobInput {
  podId: String
  "Taken and without effect."
  port: Int${CONTAINER_INPUT}
}
`
