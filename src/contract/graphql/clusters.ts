/** Clusters of pods. */
export const CLUSTERS = `type Cluster {
  id: String!
  name: String
  type: String
  podCount: Int
  gpuTypeId: String
  gpuCountPerPod: Int
  createdAt: String
  pods: [Pod] @cost(weight: 10) @listSize(assumedSize: 16)
}

input ClusterFilter {
  id: String
}

input CreateClusterInput {
  clusterName: String
  gpuTypeId: String
  podCount: Int
  gpuCountPerPod: Int
  type: String
  templateId: String
  imageName: String
  dockerArgs: String
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  ports: String
  networkVolumeId: String
  dataCenterId: String
  dataCenterIds: [String]
  env: [EnvironmentVariableInput]
  startSsh: Boolean
  "Accepted without effect: pods have the catalog price."
  deployCost: Float
}

input DeleteClusterInput {
  id: String
}
`
