/** The catalog of the plane. Prices are USD per GPU or vCPU and hour. */
export const CATALOG = `type GpuType {
  id: String!
  displayName: String
  manufacturer: String
  memoryInGb: Int
  "Not known to this plane."
  cudaCores: Int
  secureCloud: Boolean
  communityCloud: Boolean
  securePrice: Float
  communityPrice: Float
  secureSpotPrice: Float
  communitySpotPrice: Float
  "There are no savings plans on this plane."
  oneWeekPrice: Float
  oneMonthPrice: Float
  threeMonthPrice: Float
  sixMonthPrice: Float
  oneYearPrice: Float
  "Maximum in one pod."
  maxGpuCount: Int
  maxGpuCountSecureCloud: Int
  maxGpuCountCommunityCloud: Int
  "Minimum in one pod."
  minPodGpuCount: Int
  "For one GPU of a cluster; null if clusters cannot use this type."
  clusterPrice: Float
  "Data centers in which a cluster of this type is possible."
  nodeGroupDatacenters: [DataCenter] @cost(weight: 5) @listSize(assumedSize: 5)
  lowestPrice(input: GpuLowestPriceInput): LowestPrice @cost(weight: 10)
}

input GpuTypeFilter {
  id: String
  ids: [String]
  "Accepted without effect: a type that clusters cannot use has no clusterPrice."
  cluster: Boolean
}

input GpuLowestPriceInput {
  gpuCount: Int
  "GB of memory of the whole pod."
  minMemoryInGb: Int
  "vCPUs of the whole pod."
  minVcpuCount: Int
  "True: data centers; false: the community; null: both."
  secureCloud: Boolean
  dataCenterId: String
  countryCode: String
  allowedCudaVersions: [String]
  minCudaVersion: String
  "GB of container disk and volume together."
  totalDisk: Int
  "Accepted without effect."
  minDisk: Int
  "Accepted without effect."
  includeAiApi: Boolean
  "Accepted without effect."
  supportPublicIp: Boolean
  "True: only machines with global networking."
  globalNetwork: Boolean
  "Only data centers with all of these certifications."
  compliance: [String]
}

"Price and availability for one pod with the requested number of GPUs. Prices are for one GPU and hour."
type LowestPrice {
  gpuName: String
  gpuTypeId: String
  minimumBidPrice: Float
  uninterruptablePrice: Float
  "Minimum GB of memory of such a pod."
  minMemory: Int
  minVcpu: Int
  "High, Medium, Low or None."
  stockStatus: String
  "Numbers of GPUs with which a pod would fit now."
  availableGpuCounts: [Int] @cost(weight: 30)
  maxUnreservedGpuCount: Int @cost(weight: 30)
  compliance: [String]
  "The requested number."
  countryCode: String
  gpuTypeCudaVersions: [GpuTypeCudaVersion] @listSize(assumedSize: 2)
}

type GpuTypeCudaVersion {
  cudaVersion: String
  "AVAILABLE or UNAVAILABLE."
  availability: String
}

type CpuType {
  id: String!
  displayName: String
  cores: Int
  threadsPerCore: Int
  groupId: String
}

type CpuFlavor {
  id: String!
  displayName: String
  groupId: String
  groupName: String
  minVcpu: Int
  maxVcpu: Int
  ramMultiplier: Float
  diskLimitPerVcpu: Int
  vcpuBurstable: Boolean
  specifics(input: SpecificsInput): CpuFlavorSpecifics @cost(weight: 5)
}

input CpuFlavorInput {
  id: String
}

input SpecificsInput {
  dataCenterId: String
  "<flavor>-<vCPUs>-<GB>, such as cpu3c-2-4."
  instanceId: String
}

"Prices per hour of a whole pod: of the size in the input, otherwise of the smallest."
type CpuFlavorSpecifics {
  stockStatus: String
  securePrice: Float
  slsPrice: Float
}

type DataCenter {
  id: String!
  name: String
  location: String
  s3apiEnabled: Boolean
  storageSupport: Boolean
  listed: Boolean
  gpuAvailability(input: GpuAvailabilityInput): [GpuAvailability] @cost(weight: 2) @listSize(assumedSize: 10)
}

"Accepted without effect: the response is for pods with one GPU."
input GpuAvailabilityInput {
  gpuCount: Int
  minDisk: Int
  minMemoryInGb: Int
  minVcpuCount: Int
  totalDisk: Int
  secureCloud: Boolean
  allowedCudaVersions: [String]
  includeAiApi: Boolean
}

type GpuAvailability {
  id: String
  gpuTypeId: String
  displayName: String
  stockStatus: String
  available: Boolean
}

type ServerlessGpuPool {
  id: String!
  gpuTypeIds: [String]
}
`
