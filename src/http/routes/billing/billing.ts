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
    'With `Accept: text/csv`: a heading line, then one line per record with the same columns; with INTERVALS one line per interval.',
  example: 'startTime,endTime,totalAmount\r\n2026-06-01T00:00:00Z,2026-06-02T00:00:00Z,0.44\r\n',
})
const ABOUT =
  'One record per resource and bucket, oldest first; buckets without spend are omitted. Running workloads count up to the present. `totalAmount` is the sum of the other amounts.'

const billingRoute = routeOf('', BillingQuery, ListBillingResponse, {
  operationId: 'listBilling',
  summary: 'Read the total charges, by bucket',
  description: 'The sum of the other lists. Running workloads count up to the present; buckets without spend are omitted.',
})
const podsRoute = routeOf('/pods', PodBillingQuery, ListPodBillingResponse, {
  operationId: 'listPodBilling',
  summary: 'Read the charges of pods',
})
const serverlessRoute = routeOf('/serverless', ServerlessBillingQuery, ListServerlessBillingResponse, {
  operationId: 'listServerlessBilling',
  summary: 'Read the charges of endpoints',
})
const endpointsRoute = routeOf('/endpoints', BillingQuery, ListEndpointBillingResponse, {
  operationId: 'listEndpointBilling',
  summary: 'Read the charges of public endpoints',
  description: 'Always empty: this plane has no public endpoints. Workers of your own endpoints are in `/v2/billing/serverless`.',
})
const volumesRoute = routeOf('/network-volumes', NetworkVolumeBillingQuery, ListNetworkVolumeBillingResponse, {
  operationId: 'listNetworkVolumeBilling',
  summary: 'Read the charges of network volumes',
})
const clustersRoute = routeOf('/clusters', ClusterBillingQuery, ListClusterBillingResponse, {
  operationId: 'listClusterBilling',
  summary: 'Read the charges of clusters',
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
