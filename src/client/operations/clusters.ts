import type { ChangePlan } from '../../contract/change-plan.ts'
import type {
  Cluster,
  CreateClusterRequest,
  ListClusterPodsResponse,
  ListClustersResponse,
  UpdateClusterRequest,
} from '../../contract/clusters/clusters.ts'
import type { ClusterExplanation } from '../../contract/explain/explain.ts'
import { as, create, get, patch, remove } from '../operation.ts'

/** Operations on clusters. */
export const CLUSTERS_OPERATIONS = {
  listClusters: get('/v2/clusters', as<typeof ListClustersResponse>()),
  createCluster: create('/v2/clusters', as<typeof Cluster>(), as<typeof CreateClusterRequest>()),
  getCluster: get('/v2/clusters/{id}', as<typeof Cluster>()),
  updateCluster: patch('/v2/clusters/{id}', as<typeof Cluster>(), as<typeof UpdateClusterRequest>()),
  deleteCluster: remove('/v2/clusters/{id}', as<typeof ChangePlan | undefined>()),
  listClusterPods: get('/v2/clusters/{id}/pods', as<typeof ListClusterPodsResponse>()),
  explainCluster: get('/v2/clusters/{id}/explain', as<typeof ClusterExplanation>()),
}
