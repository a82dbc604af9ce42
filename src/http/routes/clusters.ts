import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import {
  Cluster,
  ClusterPlacementPreview,
  CreateClusterQuery,
  CreateClusterRequest,
  ListClusterPodsResponse,
  ListClustersResponse,
  UpdateClusterRequest,
} from '../../contract/clusters/clusters.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { withSpend } from '../../services/billing/listed-spend.ts'
import * as clusters from '../../services/clusters/clusters.ts'
import { createCluster, previewCluster } from '../../services/clusters/create-cluster.ts'
import { planDeleteCluster } from '../../services/clusters/plan-cluster.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { refuseMember } from '../middleware/refuse-member.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, PLANNED, plannedOrMade, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/clusters'
const ITEM_PATH = '/v2/clusters/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Cluster id.' }) })
const common = { tags: ['Clusters'], security: BEARER }
const READ = 'clusters:read'
const WRITE = 'clusters:write'
const NO_REGISTRY = 'registry: a cluster takes no credential of its own; name a template that has one as templateId'

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listClusters',
  summary: 'List all clusters, newest first',
  description: 'The list is complete and has no pages.',
  ...scoped(READ, []),
  responses: { 200: ok('The clusters.', ListClustersResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const createClusterRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createCluster',
  summary: 'Create a cluster: all members at once, in one data center',
  description:
    'Its members start together when they can reach one another. With `dryRun` nothing is created and the response contains the placement. A repeated `Idempotency-Key` returns the cluster of the first call.',
  ...scoped(WRITE, [strictJson, refuseMember('registry', NO_REGISTRY)]),
  request: { body: json(CreateClusterRequest), query: CreateClusterQuery, headers: CreateHeaders },
  responses: {
    200: plannedOrMade('ClusterOrPlacementPreview', 'With `dryRun`: the placement of the cluster.', ClusterPlacementPreview, Cluster),
    201: ok('The cluster.', Cluster),
    ...problemResponses([400, 401, 402, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getCluster',
  etagOf: 'cluster',
  summary: 'Read a cluster',
  description: 'The number of members by status, its network and its primary. A cluster has no status of its own.',
  ...scoped(READ, []),
  request: { params: Params },
  responses: { 200: ok('The cluster.', Cluster), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateCluster',
  etagOf: 'cluster',
  summary: 'Rename a cluster',
  description: 'Its members are renamed with it.',
  ...scoped(WRITE, [strictJson]),
  request: { params: Params, body: json(UpdateClusterRequest) },
  responses: {
    200: ok('The changed cluster.', Cluster),
    ...problemResponses([400, 401, 403, 404, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteCluster',
  etagOf: 'cluster',
  summary: 'Delete a cluster: every member is terminated',
  description: 'Possible in every state. Network volumes keep their data.',
  ...scoped(WRITE, []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

const podsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/v2/clusters/{id}/pods',
  operationId: 'listClusterPods',
  summary: 'List the members of a cluster, by rank',
  description: 'The list is complete and has no pages.',
  ...scoped(READ, []),
  request: { params: Params },
  responses: { 200: ok('The members.', ListClusterPodsResponse), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

/** Registers `/v2/clusters` (CLU-1 to CLU-12). */
export function registerClusters(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const ctx = verbContext(c)
    const listed = await clusters.listClusters(ctx)
    const silentSinceMs = await clusters.readSilentMembers(
      ctx,
      listed.map(({ id }) => id),
    )
    return c.json({ clusters: await withSpend(ctx, 'CLUSTER', listed, silentSinceMs) }, 200)
  })
  app.openapi(createClusterRoute, async (c) => {
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await previewCluster(verbContext(c), body), 200)
    return c.json(await createCluster(verbContext(c), body, c.req.valid('header')['Idempotency-Key']), 201)
  })
  app.openapi(getRoute, async (c) => c.json(await clusters.getCluster(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, async (c) => {
    return c.json(await clusters.updateCluster(verbContext(c), c.req.valid('param').id, c.req.valid('json')), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteCluster(verbContext(c), id), 200)
    await clusters.deleteCluster(verbContext(c), id)
    return c.body(null, 204)
  })
  app.openapi(podsRoute, async (c) => {
    return c.json({ pods: await clusters.listClusterPods(verbContext(c), c.req.valid('param').id) }, 200)
  })
}
