import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { freeIdentities } from '../../../services/accounts/identities.ts'
import { planFreeIdentities } from '../../../services/operator/plan-end.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, PLANNED_FOR_OPERATOR } from '../../openapi/rest-components.ts'

const freeIdentitiesRoute = createRoute({
  tags: ['Accounts'],
  security: BEARER,
  method: 'delete',
  path: '/admin/v1/users/{id}/identities',
  operationId: 'freeIdentities',
  summary: 'Unlink the identities of a user; the next verified sign-in with the address of the user is linked',
  description:
    'For a provider that changed the ids of its users, or assigned an address to another person. Keys stay valid; sessions end within 60 seconds. Tokens that the provider issued before the call, or within 30 seconds after it, are refused: the user has to sign in at the provider again. A person with a session at the provider still gets new tokens, so end the previous identity there as well.',
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Id of the user.' }) }),
    query: DryRunQuery,
  },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'The quotas are removed.' }, ...problemResponses([401, 404, 422]) },
})

/** Registers the operator's actions on identities (OIDC-15). */
export function registerAdminIdentities(app: OpenAPIHono<AppEnv>): void {
  app.openapi(freeIdentitiesRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planFreeIdentities(operatorContext(c), id), 200)
    await freeIdentities(operatorContext(c), id)
    return c.body(null, 204)
  })
}
