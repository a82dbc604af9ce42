import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  ListBillingResponse,
  ListClusterBillingResponse,
  ListEndpointBillingResponse,
  ListNetworkVolumeBillingResponse,
  ListPodBillingResponse,
  ListServerlessBillingResponse,
} from '../../../contract/billing/bills.ts'
import {
  BillingQuery,
  ClusterBillingQuery,
  NetworkVolumeBillingQuery,
  PodBillingQuery,
  ServerlessBillingQuery,
} from '../../../contract/billing/query.ts'
import { CLUSTER_BILLS, NETWORK_VOLUME_BILLS, POD_BILLS, SERVERLESS_BILLS } from '../../../domain/billing/lists.ts'
import { listAggregate, listBills, listEndpointBills } from '../../../services/billing/bills.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'
import { answerBill } from './answer-bill.ts'

const PATH = '/v2/billing'
const BillLines = z.string().meta({
  description:
    'With `Accept: text/csv`: a line a record with the same columns, after one with their names; with INTERVALS a line an interval.',
  example: 'startTime,endTime,totalAmount\r\n2026-06-01T00:00:00Z,2026-06-02T00:00:00Z,0.44\r\n',
})
const ABOUT =
  'One record a resource and bucket, oldest first; buckets without spend are left out. What still runs counts up to now. `totalAmount` is the sum of the other amounts.'

const billingRoute = routeOf('', BillingQuery, ListBillingResponse, {
  operationId: 'listBilling',
  summary: 'What everything together was charged, by bucket',
  description: 'The sum of the other lists. What still runs counts up to now; buckets without spend are left out.',
})
const podsRoute = routeOf('/pods', PodBillingQuery, ListPodBillingResponse, {
  operationId: 'listPodBilling',
  summary: 'What pods were charged',
})
const serverlessRoute = routeOf('/serverless', ServerlessBillingQuery, ListServerlessBillingResponse, {
  operationId: 'listServerlessBilling',
  summary: 'What workers of endpoints were charged',
})
const endpointsRoute = routeOf('/endpoints', BillingQuery, ListEndpointBillingResponse, {
  operationId: 'listEndpointBilling',
  summary: 'What calls of public endpoints were charged',
  description: 'Always empty: this plane has no public endpoints. Workers of your own endpoints are in `/v2/billing/serverless`.',
})
const volumesRoute = routeOf('/network-volumes', NetworkVolumeBillingQuery, ListNetworkVolumeBillingResponse, {
  operationId: 'listNetworkVolumeBilling',
  summary: 'What network volumes were charged',
})
const clustersRoute = routeOf('/clusters', ClusterBillingQuery, ListClusterBillingResponse, {
  operationId: 'listClusterBilling',
  summary: 'What clusters were charged',
})

/** Registers `/v2/billing` (BIL-1), as JSON or CSV (BIL-15). */
export function registerBilling(app: OpenAPIHono<AppEnv>): void {
  app.openapi(billingRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(c, await listAggregate(verbContext(c), query), [], query.include)
  })
  app.openapi(podsRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(c, await listBills(verbContext(c), POD_BILLS, query, query.podId), ['podId'], query.include)
  })
  app.openapi(serverlessRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(c, await listBills(verbContext(c), SERVERLESS_BILLS, query, query.serverlessId), ['serverlessId'], query.include)
  })
  app.openapi(endpointsRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(c, await listEndpointBills(verbContext(c), query), [], query.include)
  })
  app.openapi(volumesRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(
      c,
      await listBills(verbContext(c), NETWORK_VOLUME_BILLS, query, query.networkVolumeId),
      ['networkVolumeId'],
      query.include,
    )
  })
  app.openapi(clustersRoute, async (c) => {
    const query = c.req.valid('query')
    return answerBill(c, await listBills(verbContext(c), CLUSTER_BILLS, query, query.clusterId), ['clusterId'], query.include)
  })
}

function routeOf<Path extends string, Query extends z.ZodObject, Answer extends z.ZodType>(
  path: Path,
  query: Query,
  answer: Answer,
  { operationId, summary, description = ABOUT }: { operationId: string; summary: string; description?: string },
) {
  return restRoutes('Billing')('get', `${PATH}${path}` as const, 'billing:read', {
    operationId,
    summary,
    description,
    request: { query },
    responses: { 200: okOrCsv(answer) },
    problems: [400],
  })
}

// JSON unless `Accept` prefers CSV.
function okOrCsv<Answer extends z.ZodType>(answer: Answer) {
  const { content, ...bill } = ok('The bill.', answer)
  return { ...bill, content: { ...content, 'text/csv': { schema: BillLines } } }
}
