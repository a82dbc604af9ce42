import type { Resolvers } from '../call.ts'
import { notSupported } from './absent.ts'

/** Clusters are not made on this plane. */
export const CLUSTER_RESOLVERS: Resolvers = { Mutation: { createCluster: notSupported, deleteCluster: notSupported } }
