import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import {
  CreateNetworkVolumeRequest,
  ListNetworkVolumesResponse,
  NetworkVolume,
  NetworkVolumeOrChangePlan,
  UpdateNetworkVolumeRequest,
} from '../../contract/resources/network-volumes.ts'
import * as volumes from '../../services/resources/network-volumes.ts'
import { planUpdateNetworkVolume } from '../../services/resources/plan-changes.ts'
import { planDeleteNetworkVolume } from '../../services/resources/plan-deletions.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, PLANNED, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/network-volumes'
const ITEM_PATH = '/v2/network-volumes/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Network volume id.' }) })
const common = { tags: ['Volumes'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listNetworkVolumes',
  summary: 'List all network volumes, newest first',
  description: 'The list is complete and has no pages.',
  ...scoped('volumes:read', []),
  responses: { 200: ok('The volumes.', ListNetworkVolumesResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const createNetworkVolumeRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createNetworkVolume',
  etagOf: 'volume',
  summary: 'Create a network volume',
  description:
    'It is in one data center, and pods of that data center may mount it. A repeated `Idempotency-Key` returns the volume of the first call.',
  ...scoped('volumes:write', [strictJson]),
  request: { body: json(CreateNetworkVolumeRequest), headers: CreateHeaders },
  responses: {
    201: ok('The network volume.', NetworkVolume),
    ...problemResponses([400, 401, 402, 403, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getNetworkVolume',
  etagOf: 'volume',
  summary: 'Read a network volume',
  description: 'Its name, size, data center and kind.',
  ...scoped('volumes:read', []),
  request: { params: Params },
  responses: { 200: ok('The network volume.', NetworkVolume), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateNetworkVolume',
  etagOf: 'volume',
  summary: 'Rename or enlarge a network volume',
  description: 'At least one of `name` and `size`; a volume never shrinks.',
  ...scoped('volumes:write', [strictJson]),
  request: { params: Params, query: DryRunQuery, body: json(UpdateNetworkVolumeRequest) },
  responses: {
    200: okOrPlan('The changed network volume.', NetworkVolumeOrChangePlan),
    ...problemResponses([400, 401, 402, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteNetworkVolume',
  etagOf: 'volume',
  summary: 'Delete a network volume that nothing uses',
  description: '400 while a live pod or an endpoint uses it. Its data cannot be restored.',
  ...scoped('volumes:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/network-volumes` (VOL-1 to VOL-3). */
export function registerNetworkVolumes(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ networkVolumes: await volumes.listVolumes(verbContext(c)) }, 200))
  app.openapi(createNetworkVolumeRoute, async (c) =>
    c.json(await volumes.createVolume(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await volumes.getVolume(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planUpdateNetworkVolume(verbContext(c), id, body), 200)
    return c.json(await volumes.updateVolume(verbContext(c), id, body), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteNetworkVolume(verbContext(c), id), 200)
    await volumes.deleteVolume(verbContext(c), id)
    return c.body(null, 204)
  })
}
