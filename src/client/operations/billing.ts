import type {
  ListBillingResponse,
  ListClusterBillingResponse,
  ListEndpointBillingResponse,
  ListNetworkVolumeBillingResponse,
  ListPodBillingResponse,
  ListServerlessBillingResponse,
} from '../../contract/billing/bills.ts'
import type { SpendLimits, SpendSummary, UpdateSpendLimitsRequest } from '../../contract/billing/spend.ts'
import type { Spend } from '../../contract/billing/spending.ts'
import type { ListSpendStopsResponse, SpendStop, SpendStopOrPlan, StopSpendRequest } from '../../contract/billing/stops.ts'
import { as, get, patch, post } from '../operation.ts'

export const BILLING_OPERATIONS = {
  getBillingSummary: get('/v2/billing/summary', as<typeof SpendSummary>()),
  getSpendLimits: get('/v2/billing/limits', as<typeof SpendLimits>()),
  updateSpendLimits: patch('/v2/billing/limits', as<typeof SpendLimits>(), as<typeof UpdateSpendLimitsRequest>()),
  getSpend: get('/v2/spend', as<typeof Spend>()),
  stopSpend: post('/v2/spend/stop', as<typeof SpendStopOrPlan>(), as<typeof StopSpendRequest>()),
  listSpendStops: get('/v2/spend/stops', as<typeof ListSpendStopsResponse>()),
  undoSpendStop: post('/v2/spend/stops/{id}/undo', as<typeof SpendStop>()),
  listBilling: get('/v2/billing', as<typeof ListBillingResponse>()),
  listPodBilling: get('/v2/billing/pods', as<typeof ListPodBillingResponse>()),
  listServerlessBilling: get('/v2/billing/serverless', as<typeof ListServerlessBillingResponse>()),
  listEndpointBilling: get('/v2/billing/endpoints', as<typeof ListEndpointBillingResponse>()),
  listNetworkVolumeBilling: get('/v2/billing/network-volumes', as<typeof ListNetworkVolumeBillingResponse>()),
  listClusterBilling: get('/v2/billing/clusters', as<typeof ListClusterBillingResponse>()),
}
