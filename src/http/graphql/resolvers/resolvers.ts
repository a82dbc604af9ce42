import type { Resolver, Resolvers } from '../call.ts'
import { ABSENT_RESOLVERS } from './absent.ts'
import { ACCOUNT_RESOLVERS } from './account.ts'
import { CATALOG_RESOLVERS } from './catalog.ts'
import { CLUSTER_OFFER_RESOLVERS } from './cluster-offers.ts'
import { CLUSTER_RESOLVERS } from './clusters.ts'
import { ENDPOINT_RESOLVERS } from './endpoints.ts'
import { POD_MUTATIONS } from './pod-mutations.ts'
import { POD_RESOLVERS } from './pods.ts'
import { TEMPLATE_RESOLVERS } from './templates.ts'
import { VOLUME_RESOLVERS } from './volumes.ts'

/** All resolvers that are not plain property reads. */
export const RESOLVERS: Resolvers = merged([
  ACCOUNT_RESOLVERS,
  POD_RESOLVERS,
  POD_MUTATIONS,
  TEMPLATE_RESOLVERS,
  ENDPOINT_RESOLVERS,
  CATALOG_RESOLVERS,
  CLUSTER_RESOLVERS,
  CLUSTER_OFFER_RESOLVERS,
  VOLUME_RESOLVERS,
  ABSENT_RESOLVERS,
])

function merged(parts: readonly Resolvers[]): Resolvers {
  const all: Record<string, Record<string, Resolver>> = {}
  for (const part of parts) for (const [type, fields] of Object.entries(part)) all[type] = { ...all[type], ...fields }
  return all
}
