import type { OpenAPIHono } from '@hono/zod-openapi'
import { ResealRequest, ResealResponse } from '../../../contract/accounts/secrets.ts'
import { ListDeletedVolumesResponse } from '../../../contract/hosts/deleted-volumes.ts'
import { PlaneStatus } from '../../../contract/plane/plane.ts'
import * as deleted from '../../../services/hosts/deleted-volumes.ts'
import { reseal } from '../../../services/operator/reseal.ts'
import { getPlaneStatus } from '../../../services/plane/plane.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const secrets = operatorRoutes('Secrets')
const plane = operatorRoutes('Plane')
const volumes = operatorRoutes('Volumes')
const VolumeParams = idParams('Id that the volume had.')

const resealRoute = secrets('post', '/admin/v1/secrets/reseal', {
  operationId: 'reseal',
  summary: 'Seal values that are unsealed or sealed under a previous TOKEN_SECRET, one batch at a time',
  description: 'Repeat the call with the cursor of the response until it has none. Then the previous master secret can be removed.',
  request: { body: json(ResealRequest) },
  responses: { 200: answer('Result of the batch.', ResealResponse) },
})

const getPlaneRoute = plane('get', '/admin/v1/plane', {
  operationId: 'getPlane',
  summary: 'Read the health of the plane',
  description: 'Its release, its migrations, and the result of each check.',
  responses: { 200: answer('The current state.', PlaneStatus) },
})

const listDeletedVolumesRoute = volumes('get', '/admin/v1/deleted-volumes', {
  operationId: 'listDeletedVolumes',
  summary: 'List deleted volumes whose data must be wiped',
  description: 'Volumes that wait for a host of their data center, and volumes that were wiped within the last 30 days.',
  responses: {
    200: answer(
      'Waiting volumes first, then those wiped within the last 30 days; each newest first. At most 1000.',
      ListDeletedVolumesResponse,
    ),
  },
})

const confirmWipedRoute = volumes('delete', '/admin/v1/deleted-volumes/{id}', {
  operationId: 'confirmVolumeWiped',
  summary: 'Confirm that the data of a deleted volume is wiped',
  description: 'For volumes that no agent can remove, such as those of an NFS export that the container engine mounts.',
  request: { params: VolumeParams },
  responses: { 204: { description: 'Recorded.' } },
})

/** Registers the state of the plane (PLANE-1), its secrets (SEAL-3) and its deleted volumes (AUT-4a, VOL-8). */
export function registerAdminPlane(app: OpenAPIHono<AppEnv>): void {
  app.openapi(resealRoute, async (c) => c.json(await reseal(operatorContext(c), c.req.valid('json').cursor), 200))
  app.openapi(getPlaneRoute, async (c) => c.json(await getPlaneStatus(operatorContext(c)), 200))
  app.openapi(listDeletedVolumesRoute, async (c) => c.json({ volumes: await deleted.listDeletedVolumes(c.env) }, 200))
  app.openapi(confirmWipedRoute, async (c) => {
    await deleted.confirmWiped(operatorContext(c), c.req.valid('param').id)
    return c.body(null, 204)
  })
}
