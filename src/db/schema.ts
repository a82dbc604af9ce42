// Entry for drizzle-kit and for the typed client: every table of D1, one file per resource.
import { apiKeys, identities, memberships, plans, quotas, teams, users } from './tables/accounts/accounts.ts'
import { audit } from './tables/accounts/audit.ts'
import { budgets } from './tables/accounts/budgets.ts'
import { consoleSessions, deviceLogins, signInLinks } from './tables/accounts/console.ts'
import { idempotencyKeys } from './tables/accounts/idempotency.ts'
import { invitations } from './tables/accounts/invitations.ts'
import { sshKeys } from './tables/accounts/ssh-keys.ts'
import { catalogEntries } from './tables/billing/catalog.ts'
import { spendLimits } from './tables/billing/spend.ts'
import { spendStops } from './tables/billing/spend-stops.ts'
import { usage, usageArchives, usageDays, usageRemovals, usageTotals } from './tables/billing/usage.ts'
import { capacityWaiters } from './tables/hosts/capacity-waiters.ts'
import { allocations, hostGpus, hosts, joinTokens } from './tables/hosts/hosts.ts'
import { openings } from './tables/hosts/openings.ts'
import { delegations } from './tables/resources/delegations.ts'
import { registries } from './tables/resources/registries.ts'
import { secretParts, secrets } from './tables/resources/secrets.ts'
import { templates } from './tables/resources/templates.ts'
import { globalVolumes, networkVolumes, volumeHosts, volumeTombstones } from './tables/resources/volumes.ts'
import { clusters, overlays } from './tables/workloads/clusters.ts'
import { endpoints, releases } from './tables/workloads/endpoints.ts'
import { logArchives } from './tables/workloads/log-archives.ts'
import { pods } from './tables/workloads/pods.ts'

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
  logArchives,
  memberships,
  networkVolumes,
  openings,
  overlays,
  plans,
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
  usageArchives,
  usageDays,
  usageRemovals,
  usageTotals,
  users,
  volumeHosts,
  volumeTombstones,
}
