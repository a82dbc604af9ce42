import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { SearchQuery } from '../../contract/list-query.ts'
import { withSpend } from '../../services/billing/listed-spend.ts'
import * as clusters from '../../services/clusters/clusters.ts'
import { createCluster, previewCluster } from '../../services/clusters/create-cluster.ts'
import { planDeleteCluster } from '../../services/clusters/plan-cluster.ts'
import { endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { refuseMember } from '../middleware/refuse-member.ts'
import { endedOrPlan, idParams, json, ok, plannedOrMade } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const PATH = '/v2/clusters'
const ITEM_PATH = '/v2/clusters/{id}'
const Params = idParams('Cluster id.')
const route = restRoutes('Clusters')
const READ = 'clusters:read'
const WRITE = 'clusters:write'
const NO_REGISTRY = 'registry: a cluster takes no credential of its own; name a template that has one as templateId'

const listRoute = route('get', PATH, READ, {
  operationId: 'listClusters',
  summary: 'List all clusters',
  description: 'The list is complete and has no pages; the newest first by default.',
  request: { query: SearchQuery },
  responses: { 200: ok('The clusters.', ListClustersResponse) },
})

const createClusterRoute = route('post', PATH, WRITE, {
  operationId: 'createCluster',
  summary: 'Create a cluster: all members at once, in one data center',
  description:
    'Its members start together when they can reach one another. With `dryRun` nothing is created and the response contains the placement. A repeated `Idempotency-Key` returns the cluster of the first call.',
  middleware: [refuseMember('registry', NO_REGISTRY)],
  request: { body: json(CreateClusterRequest), query: CreateClusterQuery, headers: CreateHeaders },
  responses: {
    200: plannedOrMade('ClusterOrPlacementPreview', 'With `dryRun`: the placement of the cluster.', ClusterPlacementPreview, Cluster),
    201: ok('The cluster.', Cluster),
  },
  problems: [402, 404, 409],
})

const getRoute = route('get', ITEM_PATH, READ, {
  operationId: 'getCluster',
  etagOf: 'cluster',
  summary: 'Read a cluster',
  description: 'The number of members by status, its network and its primary. A cluster has no status of its own.',
  request: { params: Params },
  responses: { 200: ok('The cluster.', Cluster) },
})

const updateRoute = route('patch', ITEM_PATH, WRITE, {
  operationId: 'updateCluster',
  etagOf: 'cluster',
  summary: 'Rename a cluster',
  description: 'Its members are renamed with it.',
  request: { params: Params, body: json(UpdateClusterRequest) },
  responses: { 200: ok('The changed cluster.', Cluster) },
})

const deleteRoute = route('delete', ITEM_PATH, WRITE, {
  operationId: 'deleteCluster',
  etagOf: 'cluster',
  summary: 'Delete a cluster: every member is terminated',
  description: 'Possible in every state. Network volumes keep their data.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
})

const podsRoute = route('get', '/v2/clusters/{id}/pods', READ, {
  operationId: 'listClusterPods',
  summary: 'List the members of a cluster, by rank',
  description: 'The list is complete and has no pages.',
  request: { params: Params },
  responses: { 200: ok('The members.', ListClusterPodsResponse) },
})

/** Registers `/v2/clusters` (CLU-1 to CLU-12). */
export function registerClusters(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const ctx = verbContext(c)
    const listed = await clusters.listClusters(ctx, c.req.valid('query'))
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
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteCluster, clusters.deleteCluster))
  app.openapi(podsRoute, async (c) => {
    return c.json({ pods: await clusters.listClusterPods(verbContext(c), c.req.valid('param').id) }, 200)
  })
}
