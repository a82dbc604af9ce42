// Entry for drizzle-kit and for the typed client: every table of D1, one file a resource.
import { apiKeys, memberships, quotas, teams, users } from './tables/accounts.ts'
import { capacityWaiters } from './tables/capacity-waiters.ts'
import { endpoints, releases } from './tables/endpoints.ts'
import { allocations, hostGpus, hosts, joinTokens } from './tables/hosts.ts'
import { pods, podUsage } from './tables/pods.ts'

export {
  allocations,
  apiKeys,
  capacityWaiters,
  endpoints,
  hostGpus,
  hosts,
  joinTokens,
  memberships,
  pods,
  podUsage,
  quotas,
  releases,
  teams,
  users,
}
