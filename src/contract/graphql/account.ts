/** The user of a key and the resources of the account. */
export const ACCOUNT = `type User {
  id: String!
  email: String @scope(name: "account:read") @cost(weight: 5)
  "The account's SSH public keys, a blank line between them."
  pubKey: String @scope(name: "account:read") @cost(weight: 5)
  pods: [Pod] @scope(name: "pods:read") @cost(weight: 10) @listSize(assumedSize: 100)
  endpoints: [Endpoint] @scope(name: "serverless:read") @cost(weight: 10) @listSize(assumedSize: 50)
  endpoint(id: String): Endpoint @scope(name: "serverless:read") @cost(weight: 10)
  networkVolumes: [NetworkVolume] @scope(name: "volumes:read") @cost(weight: 10) @listSize(assumedSize: 50)
  podTemplates: [PodTemplate] @scope(name: "templates:read") @cost(weight: 10) @listSize(assumedSize: 50)
  containerRegistryCreds: [RegistryAuth] @scope(name: "registries:read") @cost(weight: 10) @listSize(assumedSize: 50)
  secrets: [Secret] @scope(name: "account:read") @cost(weight: 10) @listSize(assumedSize: 50)
  cluster(input: ClusterFilter): Cluster @scope(name: "clusters:read") @cost(weight: 10)
  clusters: [Cluster] @scope(name: "clusters:read") @cost(weight: 10) @listSize(assumedSize: 20)
  "This plane has no balance: it meters costs, and payment is elsewhere."
  clientBalance: Float
  "Not used by this plane: 0."
  hostBalance: Float
  "Not used by this plane: 0."
  minBalance: Float
  "Not used by this plane: null."
  underBalance: Boolean
  "Not used by this plane: 0."
  referralEarned: Float
  "USD per hour."
  currentSpendPerHr: Float @scope(name: "billing:read") @cost(weight: 10)
  "USD per hour."
  spendLimit: Float @scope(name: "billing:read") @cost(weight: 10)
  notifyPodsStale: Boolean
  notifyPodsGeneral: Boolean
  notifyLowBalance: Boolean
  serverlessDiscount: ServerlessDiscount
  flashApps: [FlashApp]
}

type ServerlessDiscount {
  discountFactor: Float
  type: String
  expirationDate: String
}

input UpdateUserSettingsInput {
  "SSH public keys, one per line. Replaces the whole set."
  pubKey: String
}

type NetworkVolume {
  id: String!
  name: String
  "GB."
  size: Int
  dataCenterId: String
  dataCenter: DataCenter @cost(weight: 5)
}

input CreateNetworkVolumeInput {
  name: String
  "GB."
  size: Int
  dataCenterId: String
}

"Omitted members stay unchanged."
input UpdateNetworkVolumeInput {
  id: String
  name: String
  "GB; a volume never shrinks."
  size: Int
}

input DeleteNetworkVolumeInput {
  id: String
}

type RegistryAuth {
  id: String!
  name: String
}

input SaveRegistryAuthInput {
  name: String
  username: String
  password: String
}

input UpdateRegistryAuthInput {
  id: String
  username: String
  password: String
}

type Secret {
  id: String!
  name: String
  description: String
}

input SecretCreateInput {
  name: String
  value: String
  description: String
}

type EnvironmentVariable {
  key: String
  value: String
}

input EnvironmentVariableInput {
  key: String
  value: String
}
`
