/** Schema parts that clients use and this plane does not implement: their documents are valid, and the answers are empty (GQL-20). */
export const ABSENT = `input ListingsInput {
  searchQuery: String
  category: String
  type: String
  limit: Int
  offset: Int
  orderBy: String
  orderDirection: String
  owner: String
}

type Listing {
  id: String
  repoId: String
  title: String
  description: String
  repoName: String
  repoOwner: String
  repoOwnerAvatarUrl: String
  createdAt: String
  updatedAt: String
  views: Int
  stars: Int
  watchers: Int
  openIssues: Int
  deploys: Int
  language: String
  category: String
  tags: [String]
  type: String
  listedRelease: ListingRelease
}

type ListingRelease {
  id: String
  name: String
  tagName: String
  body: String
  readme: String
  branch: String
  license: String
  config: String
  tests: String
  deploys: Int
  iconUrl: String
  authorName: String
  createdAt: String
  releasedAt: String
  updatedAt: String
  build: ListingBuild
}

type ListingBuild {
  id: String
  imageName: String
}

type AiApiPublicConfig {
  id: String
  aiApiId: String
  modelName: String
  displayName: String
  description: String
  metadata: JSON
  isLive: Boolean
  createdAt: String
  updatedAt: String
}

type Model {
  id: String
  owner: String
  provider: String
  name: String
  status: String
  users: [ModelUser]
  versions: [ModelVersion]
  createdAt: String
  updatedAt: String
}

type ModelUser {
  userId: String
  credentialType: String
  credentialReference: String
  status: String
  updatedAt: String
}

type ModelVersion {
  uuid: String
  hash: String
  status: String
  metadata: JSON
  createdAt: String
  updatedAt: String
}

type ModelRepoResult {
  success: Boolean
  message: String
  sessionId: String
  status: String
  model: Model
  version: ModelVersion
  modelVersion: ModelVersion
  upload: ModelRepoUpload
}

type ModelRepoUpload {
  sessionId: String
  status: String
  uploadId: String
  bucket: String
  key: String
  keyPrefix: String
  partSizeBytes: String
  partCount: Int
  expiresInSeconds: Int
  parts: [ModelRepoUploadPart]
  completeUrl: String
  abortUrl: String
}

type ModelRepoUploadPart {
  partNumber: Int
  url: String
  expiresAt: String
}

"""Any value: fields with this input are refused, and so are those with the inputs below."""
scalar AddModelToRepoInput
scalar RemoveModelFromRepoInput
scalar CreateModelRepoUploadInput
scalar CompleteModelRepoUploadInput
scalar ModelVersionStatus
scalar CreateFlashAppInput
scalar CreateFlashEnvironmentInput
scalar DeployBuildToEnvironmentInput
scalar UpdateFlashBuildManifestInput
scalar PrepareFlashArtifactUploadInput
scalar FinalizeFlashArtifactUploadInput

type FlashApp {
  id: String
  name: String
  flashEnvironments: [FlashEnvironment]
  flashBuilds: [FlashBuild]
}

type FlashEnvironment {
  id: String
  name: String
  state: String
  activeBuildId: String
  createdAt: String
  endpoints: [Endpoint]
  networkVolumes: [NetworkVolume]
  activeArtifact: FlashArtifact
}

type FlashArtifact {
  uploadUrl: String
  downloadUrl: String
  objectKey: String
  expiresAt: String
}

type FlashBuild {
  id: String
  objectKey: String
  manifest: JSON
  createdAt: String
}

type FlashAuthRequest {
  id: String
  status: String
  expiresAt: String
  apiKey: String
}

input FlashEnvironmentByNameInput {
  flashAppId: String
  flashAppName: String
  name: String
}
`
