import type { ClusterPlacementPreview, CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import type { CreateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { EndpointPlacementPreview } from '../../contract/endpoints/placement-preview.ts'
import type { CreatePodRequest, PodPlacementPreview } from '../../contract/pods/pods.ts'
import { as, post } from '../operation.ts'

/** Dry runs of creates. The documents have them under the creates, whose operation has one answer type only. */
export const PREVIEWS = {
  previewPod: post('/v2/pods?dryRun=true', as<typeof PodPlacementPreview>(), as<typeof CreatePodRequest>()),
  previewEndpoint: post('/v2/serverless?dryRun=true', as<typeof EndpointPlacementPreview>(), as<typeof CreateEndpointRequest>()),
  previewCluster: post('/v2/clusters?dryRun=true', as<typeof ClusterPlacementPreview>(), as<typeof CreateClusterRequest>()),
}
