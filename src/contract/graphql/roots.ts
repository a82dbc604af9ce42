/** All queries and mutations (GQL-20). Inputs are nullable, because clients fill them from nullable variables (GQL-12). */
export const ROOTS = `type Query {
  "The user whose key this is; null without a key."
  myself: User @public
  "A pod of the account, or by its id a worker of an endpoint; null for any other id."
  pod(input: PodFilter): Pod @scope(name: "pods:read", boundTo: "input.podId") @cost(weight: 10)
  gpuTypes(input: GpuTypeFilter): [GpuType] @public @cost(weight: 10) @listSize(assumedSize: 50)
  cpuTypes: [CpuType] @public @listSize(assumedSize: 10)
  cpuFlavors(input: CpuFlavorInput): [CpuFlavor] @public @cost(weight: 10) @listSize(assumedSize: 10)
  "The countries of the data centers."
  countryCodes: [String] @public @cost(weight: 10)
  dataCenters: [DataCenter] @public @cost(weight: 10) @listSize(assumedSize: 50)
  "The GPU types of each pool of endpoints."
  serverlessGpuPools: [ServerlessGpuPool] @public @listSize(assumedSize: 20)
  "Public templates, of accounts that the operator lists and of all others."
  podTemplates(input: PodTemplateInput): [PodTemplate] @public @cost(weight: 10) @listSize(assumedSize: 100)
  "A template of the account, or any public one; null for any other id."
  podTemplate(id: String): PodTemplate @public @cost(weight: 10)

  "There is no hub on this plane: always empty."
  listings(input: ListingsInput): [Listing] @public
  listing(id: String): Listing @public
  listingFromRepo(repoOwner: String, repoName: String): Listing @public
  "There are no public endpoints on this plane: always empty."
  allAiApiPublicConfigs: [AiApiPublicConfig] @public
  "There is no model repository on this plane: always empty."
  myModels: [Model]
  myModel(owner: String, name: String): Model
  "Flash is not served by this plane: always null."
  flashApp(flashAppId: String): FlashApp
  flashAppByName(flashAppName: String): FlashApp
  flashEnvironment(flashEnvironmentId: String): FlashEnvironment
  flashEnvironmentByName(input: FlashEnvironmentByNameInput): FlashEnvironment
  flashBuild(flashBuildId: String): FlashBuild
  flashAuthRequestStatus(flashAuthRequestId: String): FlashAuthRequest
}

type Mutation {
  podFindAndDeployOnDemand(input: PodFindAndDeployOnDemandInput): Pod @scope(name: "pods:write") @cost(weight: 100)
  "A pod like any other, at the same price; its podType reads INTERRUPTABLE."
  podRentInterruptable(input: PodRentInterruptableInput): Pod @scope(name: "pods:write") @cost(weight: 100)
  deployCpuPod(input: DeployCpuPodInput): Pod @scope(name: "pods:write") @cost(weight: 100)
  podResume(input: PodResumeInput): Pod @scope(name: "pods:write", boundTo: "input.podId") @cost(weight: 100)
  podBidResume(input: PodBidResumeInput): Pod @scope(name: "pods:write", boundTo: "input.podId") @cost(weight: 100)
  podStop(input: PodStopInput): Pod @scope(name: "pods:write", boundTo: "input.podId", enough: "pods:act") @ends @cost(weight: 100)
  podTerminate(input: PodTerminateInput): Void
    @scope(name: "pods:write", boundTo: "input.podId", enough: "pods:act")
    @ends
    @cost(weight: 100)
  podEditJob(input: PodEditJobInput): Pod @scope(name: "pods:write", boundTo: "input.podId") @cost(weight: 100)

  "Creates a template, or with an id changes one."
  saveTemplate(input: SaveTemplateInput): PodTemplate @scope(name: "templates:write") @cost(weight: 100)
  deleteTemplate(templateName: String, templateId: String): Void @scope(name: "templates:write") @ends @cost(weight: 100)

  "Creates an endpoint, or with an id changes one; omitted members stay unchanged."
  saveEndpoint(input: EndpointInput): Endpoint @scope(name: "serverless:write") @cost(weight: 100)
  updateEndpointTemplate(input: UpdateEndpointTemplateInput): Endpoint @scope(name: "serverless:write") @cost(weight: 100)
  deleteEndpoint(id: String): Void @scope(name: "serverless:write") @ends @cost(weight: 100)

  saveRegistryAuth(input: SaveRegistryAuthInput): RegistryAuth @scope(name: "registries:write") @cost(weight: 100)
  updateRegistryAuth(input: UpdateRegistryAuthInput): RegistryAuth @scope(name: "registries:write") @cost(weight: 100)
  deleteRegistryAuth(registryAuthId: String): Boolean @scope(name: "registries:write") @ends @cost(weight: 100)

  updateUserSettings(input: UpdateUserSettingsInput): User @scope(name: "account:write") @cost(weight: 100)
  secretCreate(input: SecretCreateInput): Secret @scope(name: "account:write") @cost(weight: 100)
  secretDelete(id: String): Void @scope(name: "account:write") @ends @cost(weight: 100)

  "Creates a network volume; the members of the input may also be separate arguments."
  createNetworkVolume(input: CreateNetworkVolumeInput, name: String, size: Int, dataCenterId: String): NetworkVolume @scope(name: "volumes:write") @cost(weight: 100)
  "Renames or enlarges a volume."
  updateNetworkVolume(input: UpdateNetworkVolumeInput): NetworkVolume @scope(name: "volumes:write") @cost(weight: 100)
  deleteNetworkVolume(input: DeleteNetworkVolumeInput): Void @scope(name: "volumes:write") @ends @cost(weight: 100)

  createCluster(input: CreateClusterInput): Cluster @scope(name: "clusters:write") @cost(weight: 100)
  deleteCluster(input: DeleteClusterInput): Void @scope(name: "clusters:write") @ends @cost(weight: 100)

  "Not supported by this plane, like all fields below."
  createFlashAuthRequest: FlashAuthRequest
  prepareFlashArtifactUpload(input: PrepareFlashArtifactUploadInput): FlashArtifact
  finalizeFlashArtifactUpload(input: FinalizeFlashArtifactUploadInput): FlashBuild
  createFlashApp(input: CreateFlashAppInput): FlashApp
  createFlashEnvironment(input: CreateFlashEnvironmentInput): FlashEnvironment
  deployBuildToEnvironment(input: DeployBuildToEnvironmentInput): FlashEnvironment
  updateFlashBuildManifest(input: UpdateFlashBuildManifestInput): FlashBuild
  deleteFlashApp(flashAppId: String): JSON
  deleteFlashEnvironment(flashEnvironmentId: String): JSON
  addModelToRepo(input: AddModelToRepoInput): ModelRepoResult
  removeModelFromRepo(input: RemoveModelFromRepoInput): ModelRepoResult
  createModelRepoUpload(input: CreateModelRepoUploadInput): ModelRepoResult
  completeModelRepoUpload(input: CompleteModelRepoUploadInput): ModelRepoResult
  updateModelVersionStatus(hash: String, status: ModelVersionStatus): ModelRepoResult
}
`
