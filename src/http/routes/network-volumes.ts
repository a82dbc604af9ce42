import type { OpenAPIHono } from '@hono/zod-openapi'
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
import { changeOrPlan, endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { endedOrPlan, idParams, json, ok, okOrPlan } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const PATH = '/v2/network-volumes'
const ITEM_PATH = '/v2/network-volumes/{id}'
const Params = idParams('Network volume id.')
const route = restRoutes('Volumes')

const listRoute = route('get', PATH, 'volumes:read', {
  operationId: 'listNetworkVolumes',
  summary: 'List all network volumes, newest first',
  description: 'The list is complete and has no pages.',
  responses: { 200: ok('The volumes.', ListNetworkVolumesResponse) },
})

const createNetworkVolumeRoute = route('post', PATH, 'volumes:write', {
  operationId: 'createNetworkVolume',
  etagOf: 'volume',
  summary: 'Create a network volume',
  description:
    'It is in one data center, and pods of that data center may mount it. A repeated `Idempotency-Key` returns the volume of the first call.',
  request: { body: json(CreateNetworkVolumeRequest), headers: CreateHeaders },
  responses: { 201: ok('The network volume.', NetworkVolume) },
  problems: [402, 409],
})

const getRoute = route('get', ITEM_PATH, 'volumes:read', {
  operationId: 'getNetworkVolume',
  etagOf: 'volume',
  summary: 'Read a network volume',
  description: 'Its name, size, data center and kind.',
  request: { params: Params },
  responses: { 200: ok('The network volume.', NetworkVolume) },
})

const updateRoute = route('patch', ITEM_PATH, 'volumes:write', {
  operationId: 'updateNetworkVolume',
  etagOf: 'volume',
  summary: 'Rename or enlarge a network volume',
  description: 'At least one of `name` and `size`; a volume never shrinks.',
  request: { params: Params, query: DryRunQuery, body: json(UpdateNetworkVolumeRequest) },
  responses: { 200: okOrPlan('The changed network volume.', NetworkVolumeOrChangePlan) },
  problems: [402, 409],
})

const deleteRoute = route('delete', ITEM_PATH, 'volumes:write', {
  operationId: 'deleteNetworkVolume',
  etagOf: 'volume',
  summary: 'Delete a network volume that nothing uses',
  description: '400 while a live pod or an endpoint uses it. Its data cannot be restored.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
})

/** Registers `/v2/network-volumes` (VOL-1 to VOL-3). */
export function registerNetworkVolumes(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => c.json({ networkVolumes: await volumes.listVolumes(verbContext(c)) }, 200))
  app.openapi(createNetworkVolumeRoute, async (c) =>
    c.json(await volumes.createVolume(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201),
  )
  app.openapi(getRoute, async (c) => c.json(await volumes.getVolume(verbContext(c), c.req.valid('param').id), 200))
  app.openapi(updateRoute, (c) => changeOrPlan(c, verbContext(c), planUpdateNetworkVolume, volumes.updateVolume))
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteNetworkVolume, volumes.deleteVolume))
}
