import type {
  CreateUserRequest,
  ListUsersResponse,
  OrganizationSuspension,
  Quotas,
  Suspension,
  User,
} from '../../contract/accounts/accounts.ts'
import type { OperatorAuditResponse } from '../../contract/accounts/audit.ts'
import type { BudgetOverrides } from '../../contract/accounts/budgets.ts'
import type { AccountIsolation } from '../../contract/accounts/isolation.ts'
import type { CreatedKey, CreateKeyRequest, ListKeysResponse } from '../../contract/accounts/keys.ts'
import type { Offboarding } from '../../contract/accounts/offboarding.ts'
import type { AccountPlan, LimitsPlan, ListPlansResponse, PlanLimits } from '../../contract/accounts/plans.ts'
import type { ResealRequest, ResealResponse } from '../../contract/accounts/secrets.ts'
import type { UserLimits } from '../../contract/accounts/user-limits.ts'
import type { SpendCeilings } from '../../contract/billing/spend.ts'
import type { ChangePlan } from '../../contract/change-plan.ts'
import type { CreateSignInLinkRequest, SignInLink } from '../../contract/console/sign-in-links.ts'
import type { ListDeletedVolumesResponse } from '../../contract/hosts/deleted-volumes.ts'
import type {
  CordonRequest,
  CreateJoinTokenRequest,
  Host,
  HostOrChangePlan,
  ListHostsResponse,
  ListJoinTokensResponse,
  NewJoinToken,
} from '../../contract/hosts/hosts.ts'
import type { ListWaitingResponse } from '../../contract/hosts/waiting.ts'
import type { MetricsResponse } from '../../contract/metrics.ts'
import type { PlaneStatus } from '../../contract/plane/plane.ts'
import { as, get, NOTHING, post, put, remove } from '../operation.ts'

export const OPERATOR_OPERATIONS = {
  createUser: post('/admin/v1/users', as<typeof User>(), as<typeof CreateUserRequest>()),
  listUsers: get('/admin/v1/users', as<typeof ListUsersResponse>()),
  createKey: post('/admin/v1/users/{id}/keys', as<typeof CreatedKey>(), as<typeof CreateKeyRequest>()),
  listKeys: get('/admin/v1/users/{id}/keys', as<typeof ListKeysResponse>()),
  revokeKey: remove('/admin/v1/keys/{id}', as<typeof ChangePlan | undefined>()),
  setQuotas: put('/admin/v1/users/{id}/quotas', as<typeof Quotas>(), as<typeof Quotas>()),
  resetQuotas: remove('/admin/v1/users/{id}/quotas', as<typeof ChangePlan | undefined>()),
  suspendUser: post('/admin/v1/users/{id}/suspend', as<typeof Suspension>()),
  resumeUser: post('/admin/v1/users/{id}/resume', as<typeof Suspension>()),
  suspendOrganization: post('/admin/v1/organizations/{id}/suspend', as<typeof OrganizationSuspension>()),
  resumeOrganization: post('/admin/v1/organizations/{id}/resume', as<typeof OrganizationSuspension>()),
  getIsolation: get('/admin/v1/users/{id}/isolation', as<typeof AccountIsolation>()),
  setIsolation: put('/admin/v1/users/{id}/isolation', as<typeof AccountIsolation>(), as<typeof AccountIsolation>()),
  deleteUser: remove('/admin/v1/users/{id}', as<typeof Offboarding>()),
  freeIdentities: remove('/admin/v1/users/{id}/identities', as<typeof ChangePlan | undefined>()),
  endSessions: remove('/admin/v1/users/{id}/sessions', as<typeof ChangePlan | undefined>()),
  createSignInLink: post('/admin/v1/sign-in-links', as<typeof SignInLink>(), as<typeof CreateSignInLinkRequest>()),
  getBudgets: get('/admin/v1/users/{id}/budgets', as<typeof BudgetOverrides>()),
  setBudgets: put('/admin/v1/users/{id}/budgets', as<typeof BudgetOverrides>(), as<typeof BudgetOverrides>()),
  getUserLimits: get('/admin/v1/users/{id}/limits', as<typeof UserLimits>()),
  listPlans: get('/admin/v1/plans', as<typeof ListPlansResponse>()),
  setPlan: put('/admin/v1/plans/{name}', as<typeof LimitsPlan>(), as<typeof PlanLimits>()),
  deletePlan: remove('/admin/v1/plans/{name}', as<typeof ChangePlan | undefined>()),
  getUserPlan: get('/admin/v1/users/{id}/plan', as<typeof AccountPlan>()),
  setUserPlan: put('/admin/v1/users/{id}/plan', as<typeof AccountPlan>(), as<typeof AccountPlan>()),
  getOrganizationPlan: get('/admin/v1/organizations/{id}/plan', as<typeof AccountPlan>()),
  setOrganizationPlan: put('/admin/v1/organizations/{id}/plan', as<typeof AccountPlan>(), as<typeof AccountPlan>()),
  getSpendCeilings: get('/admin/v1/users/{id}/spend-limits', as<typeof SpendCeilings>()),
  setSpendCeilings: put('/admin/v1/users/{id}/spend-limits', as<typeof SpendCeilings>(), as<typeof SpendCeilings>()),
  listAllAudit: get('/admin/v1/audit', as<typeof OperatorAuditResponse>()),
  listWaiting: get('/admin/v1/waiting', as<typeof ListWaitingResponse>()),
  createJoinToken: post('/admin/v1/join-tokens', as<typeof NewJoinToken>(), as<typeof CreateJoinTokenRequest>()),
  listJoinTokens: get('/admin/v1/join-tokens', as<typeof ListJoinTokensResponse>()),
  revokeJoinToken: remove('/admin/v1/join-tokens/{id}', as<typeof ChangePlan | undefined>()),
  cordonHost: post('/admin/v1/hosts/{id}/cordon', as<typeof HostOrChangePlan>(), as<typeof CordonRequest>()),
  uncordonHost: post('/admin/v1/hosts/{id}/uncordon', as<typeof Host>()),
  drainHost: post('/admin/v1/hosts/{id}/drain', as<typeof HostOrChangePlan>(), as<typeof CordonRequest>()),
  listHosts: get('/admin/v1/hosts', as<typeof ListHostsResponse>()),
  getHost: get('/admin/v1/hosts/{id}', as<typeof Host>()),
  removeHost: remove('/admin/v1/hosts/{id}', as<typeof ChangePlan | undefined>()),
  getPlane: get('/admin/v1/plane', as<typeof PlaneStatus>()),
  getHostMetrics: get('/admin/v1/hosts/{id}/metrics', as<typeof MetricsResponse>()),
  reseal: post('/admin/v1/secrets/reseal', as<typeof ResealResponse>(), as<typeof ResealRequest>()),
  listDeletedVolumes: get('/admin/v1/deleted-volumes', as<typeof ListDeletedVolumesResponse>()),
  confirmVolumeWiped: remove('/admin/v1/deleted-volumes/{id}', NOTHING),
}
