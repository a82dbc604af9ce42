import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
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
import { scoped } from '../../middleware/scope.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, ok, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { answerBill } from './answer-bill.ts'

const PATH = '/v2/billing'
const BillLines = z.string().meta({
  description:
    'With `Accept: text/csv`: a heading line, then one line per record with the same columns; with INTERVALS one line per interval.',
  example: 'startTime,endTime,totalAmount\r\n2026-06-01T00:00:00Z,2026-06-02T00:00:00Z,0.44\r\n',
})
const ABOUT =
  'One record per resource and bucket, oldest first; buckets without spend are omitted. Running workloads count up to the present. `totalAmount` is the sum of the other amounts.'

const billingRoute = createRoute({
  ...routeOf('', 'listBilling', 'Read the total charges, by bucket', BillingQuery, ListBillingResponse),
  description: 'The sum of the other lists. Running workloads count up to the present; buckets without spend are omitted.',
})
const podsRoute = createRoute({
  ...routeOf('/pods', 'listPodBilling', 'Read the charges of pods', PodBillingQuery, ListPodBillingResponse),
  description: ABOUT,
})
const serverlessRoute = createRoute({
  ...routeOf(
    '/serverless',
    'listServerlessBilling',
    'Read the charges of endpoints',
    ServerlessBillingQuery,
    ListServerlessBillingResponse,
  ),
  description: ABOUT,
})
const endpointsRoute = createRoute({
  ...routeOf('/endpoints', 'listEndpointBilling', 'Read the charges of public endpoints', BillingQuery, ListEndpointBillingResponse),
  description: 'Always empty: this plane has no public endpoints. Workers of your own endpoints are in `/v2/billing/serverless`.',
})
const volumesRoute = createRoute({
  ...routeOf(
    '/network-volumes',
    'listNetworkVolumeBilling',
    'Read the charges of network volumes',
    NetworkVolumeBillingQuery,
    ListNetworkVolumeBillingResponse,
  ),
  description: ABOUT,
})
const clustersRoute = createRoute({
  ...routeOf('/clusters', 'listClusterBilling', 'Read the charges of clusters', ClusterBillingQuery, ListClusterBillingResponse),
  description: ABOUT,
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
  operationId: string,
  summary: string,
  query: Query,
  answer: Answer,
) {
  return {
    tags: ['Billing'],
    security: BEARER,
    method: 'get' as const,
    path: `${PATH}${path}` as const,
    operationId,
    summary,
    ...scoped('billing:read', []),
    request: { query },
    responses: { 200: okOrCsv(answer), ...problemResponses([400, 401, 403, 422, 429], RATE_HEADERS) },
  }
}

// JSON unless `Accept` prefers CSV.
function okOrCsv<Answer extends z.ZodType>(answer: Answer) {
  const { content, ...bill } = ok('The bill.', answer)
  return { ...bill, content: { ...content, 'text/csv': { schema: BillLines } } }
}
