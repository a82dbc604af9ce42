import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { SearchQuery } from '../../contract/list-query.ts'
import {
  CreateGlobalVolumeRequest,
  GlobalVolume,
  ListGlobalVolumesResponse,
  UpdateGlobalVolumeRequest,
} from '../../contract/resources/global-volumes.ts'
import {
  CreateNetworkVolumeRequest,
  ListNetworkVolumesResponse,
  NetworkVolume,
  NetworkVolumeOrChangePlan,
  UpdateNetworkVolumeRequest,
} from '../../contract/resources/network-volumes.ts'
import * as globalVolumes from '../../services/resources/global-volumes.ts'
import * as networkVolumes from '../../services/resources/network-volumes.ts'
import { planUpdateNetworkVolume } from '../../services/resources/plan-changes.ts'
import { planDeleteGlobalVolume, planDeleteNetworkVolume } from '../../services/resources/plan-deletions.ts'
import { createOnce } from '../answers/create-once.ts'
import { changeOrPlan, endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { endedOrPlan, idParams, json, ok, okOrPlan } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const route = restRoutes('Volumes')
const NetworkParams = idParams('Network volume id.')
const GlobalParams = idParams('Global volume id.')

const NETWORK_PATH = '/v2/network-volumes'
const NETWORK_ITEM_PATH = '/v2/network-volumes/{id}'

const listNetworkVolumesRoute = route('get', NETWORK_PATH, 'volumes:read', {
  operationId: 'listNetworkVolumes',
  summary: 'List all network volumes',
  description: 'The list is complete and has no pages; the newest first by default.',
  request: { query: SearchQuery },
  responses: { 200: ok('The volumes.', ListNetworkVolumesResponse) },
})

const createNetworkVolumeRoute = route('post', NETWORK_PATH, 'volumes:write', {
  operationId: 'createNetworkVolume',
  etagOf: 'volume',
  summary: 'Create a network volume',
  description:
    'It is in one data center, and pods of that data center may mount it. A repeated `Idempotency-Key` returns the volume of the first call.',
  request: { body: json(CreateNetworkVolumeRequest), headers: CreateHeaders },
  responses: { 201: ok('The network volume.', NetworkVolume) },
  problems: [402, 409],
})

const getNetworkVolumeRoute = route('get', NETWORK_ITEM_PATH, 'volumes:read', {
  operationId: 'getNetworkVolume',
  etagOf: 'volume',
  summary: 'Read a network volume',
  description: 'Its name, size, data center and kind.',
  request: { params: NetworkParams },
  responses: { 200: ok('The network volume.', NetworkVolume) },
})

const updateNetworkVolumeRoute = route('patch', NETWORK_ITEM_PATH, 'volumes:write', {
  operationId: 'updateNetworkVolume',
  etagOf: 'volume',
  summary: 'Rename or enlarge a network volume',
  description: 'At least one of `name` and `size`; a volume never shrinks.',
  request: { params: NetworkParams, query: DryRunQuery, body: json(UpdateNetworkVolumeRequest) },
  responses: { 200: okOrPlan('The changed network volume.', NetworkVolumeOrChangePlan) },
  problems: [402, 409],
})

const deleteNetworkVolumeRoute = route('delete', NETWORK_ITEM_PATH, 'volumes:write', {
  operationId: 'deleteNetworkVolume',
  etagOf: 'volume',
  summary: 'Delete a network volume that nothing uses',
  description: '400 while a live pod or an endpoint uses it. Its data cannot be restored.',
  request: { params: NetworkParams, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
})

const GLOBAL_PATH = '/v2/global-volumes'
const GLOBAL_ITEM_PATH = '/v2/global-volumes/{id}'

const listGlobalVolumesRoute = route('get', GLOBAL_PATH, 'volumes:read', {
  operationId: 'listGlobalVolumes',
  summary: 'List all global volumes',
  description: 'The list is complete and has no pages; the newest first by default.',
  request: { query: SearchQuery },
  responses: { 200: ok('The volumes.', ListGlobalVolumesResponse) },
})

const createGlobalVolumeRoute = route('post', GLOBAL_PATH, 'volumes:write', {
  operationId: 'createGlobalVolume',
  etagOf: 'volume',
  summary: 'Create a global volume',
  description: 'It can be mounted in every data center and has no size: it is billed by use.',
  request: { body: json(CreateGlobalVolumeRequest), headers: CreateHeaders },
  responses: { 201: ok('The global volume.', GlobalVolume) },
  problems: [409],
})

const getGlobalVolumeRoute = route('get', GLOBAL_ITEM_PATH, 'volumes:read', {
  operationId: 'getGlobalVolume',
  etagOf: 'volume',
  summary: 'Read a global volume',
  description: 'Its name; a global volume has no size and no data center.',
  request: { params: GlobalParams },
  responses: { 200: ok('The global volume.', GlobalVolume) },
})

const updateGlobalVolumeRoute = route('patch', GLOBAL_ITEM_PATH, 'volumes:write', {
  operationId: 'updateGlobalVolume',
  etagOf: 'volume',
  summary: 'Rename a global volume',
  description: 'Only the name can change.',
  request: { params: GlobalParams, body: json(UpdateGlobalVolumeRequest) },
  responses: { 200: ok('The changed global volume.', GlobalVolume) },
})

const deleteGlobalVolumeRoute = route('delete', GLOBAL_ITEM_PATH, 'volumes:write', {
  operationId: 'deleteGlobalVolume',
  etagOf: 'volume',
  summary: 'Delete a global volume that no pod mounts',
  description: '400 while a live pod mounts it. Its data cannot be restored.',
  request: { params: GlobalParams, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
})

/** Registers `/v2/network-volumes` (VOL-1 to VOL-3) and `/v2/global-volumes` (GLV-1, GLV-2). */
export function registerVolumes(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listNetworkVolumesRoute, async (c) =>
    c.json({ networkVolumes: await networkVolumes.listVolumes(verbContext(c), c.req.valid('query')) }, 200),
  )
  app.openapi(createNetworkVolumeRoute, (c) => createOnce(c, networkVolumes.createVolume))
  app.openapi(getNetworkVolumeRoute, async (c) => c.json(await networkVolumes.getVolume(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateNetworkVolumeRoute, (c) => changeOrPlan(c, verbContext(c), planUpdateNetworkVolume, networkVolumes.updateVolume))
  app.openapi(deleteNetworkVolumeRoute, (c) => endOrPlan(c, verbContext(c), planDeleteNetworkVolume, networkVolumes.deleteVolume))
  app.openapi(listGlobalVolumesRoute, async (c) =>
    c.json({ globalVolumes: await globalVolumes.listGlobalVolumes(verbContext(c), c.req.valid('query')) }, 200),
  )
  app.openapi(createGlobalVolumeRoute, (c) => createOnce(c, globalVolumes.createGlobalVolume))
  app.openapi(getGlobalVolumeRoute, async (c) => c.json(await globalVolumes.getGlobalVolume(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateGlobalVolumeRoute, async (c) =>
    c.json(await globalVolumes.renameGlobalVolume(verbContext(c), c.req.valid('param').id, c.req.valid('json').name), 200),
  )
  app.openapi(deleteGlobalVolumeRoute, (c) => endOrPlan(c, verbContext(c), planDeleteGlobalVolume, globalVolumes.deleteGlobalVolume))
}
