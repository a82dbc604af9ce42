import type { OpenAPIHono } from '@hono/zod-openapi'
import { ListDeletedVolumesResponse } from '../../../contract/hosts/deleted-volumes.ts'
import * as deleted from '../../../services/hosts/deleted-volumes.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('Id that the volume had.')
const route = operatorRoutes('Volumes')

const listDeletedVolumesRoute = route('get', '/admin/v1/deleted-volumes', {
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

const confirmWipedRoute = route('delete', '/admin/v1/deleted-volumes/{id}', {
  operationId: 'confirmVolumeWiped',
  summary: 'Confirm that the data of a deleted volume is wiped',
  description: 'For volumes that no agent can remove, such as those of an NFS export that the container engine mounts.',
  request: { params: Params },
  responses: { 204: { description: 'Recorded.' } },
})

/** Registers the deleted volumes of the operator API (AUT-4a, VOL-8). */
export function registerDeletedVolumes(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listDeletedVolumesRoute, async (c) => c.json({ volumes: await deleted.listDeletedVolumes(c.env) }, 200))
  app.openapi(confirmWipedRoute, async (c) => {
    await deleted.confirmWiped(operatorContext(c), c.req.valid('param').id)
    return c.body(null, 204)
  })
}
