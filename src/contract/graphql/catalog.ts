/** The catalog of the plane. Prices are USD per GPU or vCPU and hour. */
export const CATALOG = `type GpuType {
  id: String!
  displayName: String
  manufacturer: String
  memoryInGb: Int
  "Not known here."
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
  "Fewest in one pod."
  minPodGpuCount: Int
  "For one GPU of a cluster; null where there are none of this type."
  clusterPrice: Float
  "Where a cluster of this type could be."
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
  "True: on machines with the account's global network only."
  globalNetwork: Boolean
  "Data centers with all of these marks only."
  compliance: [String]
}

"Of one pod with so many GPUs. Prices are for one GPU and hour."
type LowestPrice {
  gpuName: String
  gpuTypeId: String
  minimumBidPrice: Float
  uninterruptablePrice: Float
  "GB that such a pod has at least."
  minMemory: Int
  minVcpu: Int
  "High, Medium, Low or None."
  stockStatus: String
  "Numbers of GPUs of which a pod fits now."
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

"Of a whole machine, prices an hour: of the size that the input names, otherwise of the smallest."
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

"Accepted without effect: the answer is for pods with one GPU."
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
