import { CreateClusterRequest } from '../../../contract/clusters/clusters.ts'
import { type ClusterInput, clusterBody, type FlatCluster, flatCluster } from '../../../domain/graphql/clusters.ts'
import { flatPod } from '../../../domain/graphql/pods.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { deleteCluster, getCluster, listClusters, listPodsOfClusters } from '../../../services/clusters/clusters.ts'
import { createCluster } from '../../../services/clusters/create-cluster.ts'
import { batched } from '../batch.ts'
import type { Resolvers } from '../call.ts'
import { checked, needed } from '../checked.ts'
import { orNull } from '../or-null.ts'

/** Resolvers of clusters (GQL-41). */
export const CLUSTER_RESOLVERS: Resolvers = {
  User: {
    clusters: async (_source, _args, { ctx }) => (await listClusters(ctx)).map(flatCluster),
    cluster: (_source, { input }, { ctx }) => orNull(async () => flatCluster(await getCluster(ctx, input?.id ?? ''))),
  },
  Cluster: {
    pods: async ({ id }: FlatCluster, _, call) => {
      const pods = await batched(call, 'members', id, (ids) => listPodsOfClusters(call.ctx, ids))
      const catalog = await loadCatalog(call.ctx.env)
      return (pods ?? []).map((pod) => flatPod(pod, catalog))
    },
  },
  Mutation: {
    createCluster: async (_, { input }: { input?: ClusterInput | null }, { ctx, key }) => {
      return flatCluster(await createCluster(ctx, checked(CreateClusterRequest, clusterBody(needed(input))), key))
    },
    deleteCluster: async (_, { input }, { ctx }) => {
      await deleteCluster(ctx, needed(needed(input).id, 'id'))
      return null
    },
  },
}
