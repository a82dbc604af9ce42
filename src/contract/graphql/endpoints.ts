/** Serverless endpoints. */
export const ENDPOINTS = `type Endpoint {
  id: String!
  name: String
  "QB: a queue; LB: load balancing."
  type: String
  userId: String
  "Id of the template that it was created from, or of its own template."
  templateId: String
  template: PodTemplate
  computeType: String
  "Comma-separated pools; a type with a leading hyphen is excluded."
  gpuIds: String
  gpuCount: Int
  instanceIds: [String]
  "Comma-separated."
  allowedCudaVersions: String
  minCudaVersion: String
  workersMin: Int
  workersMax: Int
  workersStandby: Int
  workersPFBTarget: Int
  idleTimeout: Int
  scalerType: String
  scalerValue: Int
  executionTimeoutMs: Int
  "Comma-separated data centers."
  locations: String
  networkVolumeId: String
  networkVolumeIds: [EndpointVolume]
  networkVolume: NetworkVolume @scope(name: "volumes:read") @cost(weight: 2)
  flashBootType: FlashBootType
  flashEnvironmentId: String
  modelReferences: [String]
  env: [EnvironmentVariable]
  version: Int
  createdAt: String
  "Always null: accounts create keys."
  aiKey: String
  activeBuildid: String
  idePodId: String
  hubReleaseId: String
  "Its workers; in a list, only for the first 200 endpoints."
  pods: [EndpointPod] @cost(weight: 10) @listSize(assumedSize: 5)
}

type EndpointVolume {
  networkVolumeId: String
  dataCenterId: String
}

type EndpointPod {
  id: String
  desiredStatus: PodStatus
  imageName: String
  gpuCount: Int
}

input EndpointVolumeInput {
  networkVolumeId: String
  dataCenterId: String
}

input EndpointTemplateInput {
  name: String
  imageName: String
  containerDiskInGb: Int
  dockerArgs: String
  env: [EnvironmentVariableInput]
  ports: String
  "As in a template; an empty value means not set."
  startScript: String
  containerRegistryAuthId: String
}

input EndpointInput {
  id: String
  name: String
  templateId: String
  template: EndpointTemplateInput
  gpuIds: String
  gpuCount: Int
  "<flavor>-<vCPUs>-<GB>, best first."
  instanceIds: [String]
  networkVolumeId: String
  networkVolumeIds: [EndpointVolumeInput]
  "Comma-separated data centers or countries."
  locations: String
  idleTimeout: Int
  scalerType: String
  scalerValue: Int
  workersMin: Int
  workersMax: Int
  type: String
  flashBootType: FlashBootType
  executionTimeoutMs: Int
  allowedCudaVersions: String
  minCudaVersion: String
  env: [EnvironmentVariableInput]
  "Accepted without effect."
  workersStandby: Int
  "Accepted without effect."
  hubReleaseId: String
  "Accepted without effect."
  modelReferences: [String]
  "Accepted without effect."
  compliance: [String]
  "Accepted without effect."
  flashEnvironmentId: String
}

input UpdateEndpointTemplateInput {
  endpointId: String
  templateId: String
}
`
