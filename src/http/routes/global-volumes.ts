import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { endedOrPlan, idParams, json, ok } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const PATH = '/v2/global-volumes'
const ITEM_PATH = '/v2/global-volumes/{id}'
const Params = idParams('Global volume id.')
const route = restRoutes('Volumes')

const listRoute = route('get', PATH, 'volumes:read', {
  operationId: 'listGlobalVolumes',
  summary: 'List all global volumes, newest first',
  description: 'The list is complete and has no pages.',
  responses: { 200: ok('The volumes.', ListGlobalVolumesResponse) },
})

const createGlobalVolumeRoute = route('post', PATH, 'volumes:write', {
  operationId: 'createGlobalVolume',
  etagOf: 'volume',
  summary: 'Create a global volume',
  description: 'It can be mounted in every data center and has no size: it is billed by use.',
  request: { body: json(CreateGlobalVolumeRequest), headers: CreateHeaders },
  responses: { 201: ok('The global volume.', GlobalVolume) },
  problems: [409],
})

const getRoute = route('get', ITEM_PATH, 'volumes:read', {
  operationId: 'getGlobalVolume',
  etagOf: 'volume',
  summary: 'Read a global volume',
  description: 'Its name; a global volume has no size and no data center.',
  request: { params: Params },
  responses: { 200: ok('The global volume.', GlobalVolume) },
})

const updateRoute = route('patch', ITEM_PATH, 'volumes:write', {
  operationId: 'updateGlobalVolume',
  etagOf: 'volume',
  summary: 'Rename a global volume',
  description: 'Only the name can change.',
  request: { params: Params, body: json(UpdateGlobalVolumeRequest) },
  responses: { 200: ok('The changed global volume.', GlobalVolume) },
})

const deleteRoute = route('delete', ITEM_PATH, 'volumes:write', {
  operationId: 'deleteGlobalVolume',
  etagOf: 'volume',
  summary: 'Delete a global volume that no pod mounts',
  description: '400 while a live pod mounts it. Its data cannot be restored.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
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
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteGlobalVolume, volumes.deleteGlobalVolume))
}
