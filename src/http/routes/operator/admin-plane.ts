import type { OpenAPIHono } from '@hono/zod-openapi'
import { PlaneStatus } from '../../../contract/plane/plane.ts'
import { getPlaneStatus } from '../../../services/plane/plane.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Plane')

const getPlaneRoute = route('get', '/admin/v1/plane', {
  operationId: 'getPlane',
  summary: 'Read the health of the plane',
  description: 'Its release, its migrations, and the result of each check.',
  responses: { 200: answer('The current state.', PlaneStatus) },
})

/** Registers the state of the plane in the operator API (PLANE-1). */
export function registerPlane(app: OpenAPIHono<AppEnv>): void {
  app.openapi(getPlaneRoute, async (c) => c.json(await getPlaneStatus(operatorContext(c)), 200))
}
