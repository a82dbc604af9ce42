import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import {
  CreateGlobalVolumeRequest,
  GlobalVolume,
  ListGlobalVolumesResponse,
  UpdateGlobalVolumeRequest,
} from '../../contract/resources/global-volumes.ts'
import * as volumes from '../../services/resources/global-volumes.ts'
import { planDeleteGlobalVolume } from '../../services/resources/plan-deletions.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, PLANNED, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/global-volumes'
const ITEM_PATH = '/v2/global-volumes/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Global volume id.' }) })
const common = { tags: ['Volumes'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listGlobalVolumes',
  summary: 'List all global volumes, newest first',
  description: 'The list is complete and has no pages.',
  ...scoped('volumes:read', []),
  responses: { 200: ok('The volumes.', ListGlobalVolumesResponse), ...problemResponses([401, 403, 429], RATE_HEADERS) },
})

const createGlobalVolumeRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createGlobalVolume',
  etagOf: 'volume',
  summary: 'Create a global volume',
  description: 'It can be mounted in every data center and has no size: it is billed by use.',
  ...scoped('volumes:write', [strictJson]),
  request: { body: json(CreateGlobalVolumeRequest), headers: CreateHeaders },
  responses: { 201: ok('The global volume.', GlobalVolume), ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS) },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getGlobalVolume',
  etagOf: 'volume',
  summary: 'Read a global volume',
  description: 'Its name; a global volume has no size and no data center.',
  ...scoped('volumes:read', []),
  request: { params: Params },
  responses: { 200: ok('The global volume.', GlobalVolume), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateGlobalVolume',
  etagOf: 'volume',
  summary: 'Rename a global volume',
  description: 'Only the name can change.',
  ...scoped('volumes:write', [strictJson]),
  request: { params: Params, body: json(UpdateGlobalVolumeRequest) },
  responses: {
    200: ok('The changed global volume.', GlobalVolume),
    ...problemResponses([400, 401, 403, 404, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteGlobalVolume',
  etagOf: 'volume',
  summary: 'Delete a global volume that no pod mounts',
  description: '400 while a live pod mounts it. Its data cannot be restored.',
  ...scoped('volumes:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/global-volumes` (GLV-1, GLV-2). */
export function registerGlobalVolumes(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ globalVolumes: await volumes.listGlobalVolumes(verbContext(c)) }, 200))
  app.openapi(createGlobalVolumeRoute, async (c) =>
    c.json(await volumes.createGlobalVolume(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await volumes.getGlobalVolume(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, async (c) =>
    c.json(await volumes.renameGlobalVolume(verbContext(c), c.req.valid('param').id, c.req.valid('json').name), 200),
  )
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteGlobalVolume(verbContext(c), id), 200)
    await volumes.deleteGlobalVolume(verbContext(c), id)
    return c.body(null, 204)
  })
}
