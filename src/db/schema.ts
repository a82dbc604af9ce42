// Entry for drizzle-kit and for the typed client: every table of D1, one file a resource.
import { apiKeys, identities, memberships, quotas, teams, users } from './tables/accounts.ts'
import { audit } from './tables/audit.ts'
import { budgets } from './tables/budgets.ts'
import { capacityWaiters } from './tables/capacity-waiters.ts'
import { catalogEntries } from './tables/catalog.ts'
import { clusters, overlays } from './tables/clusters.ts'
import { consoleSessions, deviceLogins, signInLinks } from './tables/console.ts'
import { delegations } from './tables/delegations.ts'
import { endpoints, releases } from './tables/endpoints.ts'
import { allocations, hostGpus, hosts, joinTokens } from './tables/hosts.ts'
import { idempotencyKeys } from './tables/idempotency.ts'
import { invitations } from './tables/invitations.ts'
import { pods } from './tables/pods.ts'
import { registries } from './tables/registries.ts'
import { secretParts, secrets } from './tables/secrets.ts'
import { spendLimits } from './tables/spend.ts'
import { spendStops } from './tables/spend-stops.ts'
import { sshKeys } from './tables/ssh-keys.ts'
import { templates } from './tables/templates.ts'
import { usage } from './tables/usage.ts'
import { globalVolumes, networkVolumes, volumeTombstones } from './tables/volumes.ts'

export {
  allocations,
  apiKeys,
  audit,
  budgets,
  capacityWaiters,
  catalogEntries,
  clusters,
  consoleSessions,
  delegations,
  deviceLogins,
  endpoints,
  globalVolumes,
  hostGpus,
  hosts,
  idempotencyKeys,
  identities,
  invitations,
  joinTokens,
  memberships,
  networkVolumes,
  overlays,
  pods,
  quotas,
  registries,
  releases,
  secretParts,
  secrets,
  signInLinks,
  spendLimits,
  spendStops,
  sshKeys,
  teams,
  templates,
  usage,
  users,
  volumeTombstones,
}
