import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateSignInLinkRequest, SignInLink } from '../../../contract/console/sign-in-links.ts'
import { planEndSessions } from '../../../services/operator/plan-end.ts'
import { endSessionsOf } from '../../../services/sessions/console-sessions.ts'
import { createSignInLink } from '../../../services/sessions/sign-in-links.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, json, PLANNED_FOR_OPERATOR } from '../../openapi/rest-components.ts'

const common = { tags: ['Accounts'], security: BEARER }

const createLinkRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/sign-in-links',
  operationId: 'createSignInLink',
  summary: 'Create a link that signs a user in at the console once, within 12 hours',
  description:
    'The first person who opens it acts as that user, so protect it like a key. The link and its session end with the operator key that created it, or when the address of the operator is no longer listed. A session from a link cannot create links with `isOperator`.',
  middleware: [strictJson] as const,
  request: { body: json(CreateSignInLinkRequest) },
  responses: {
    201: { description: 'The link, shown only once.', content: { 'application/json': { schema: SignInLink } } },
    ...problemResponses([400, 401, 403, 404, 413, 415, 422]),
  },
})

const endSessionsRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/users/{id}/sessions',
  operationId: 'endSessions',
  summary: 'Sign a user out of the console everywhere',
  description:
    'In force everywhere within 60 seconds. Open links for the user end too, and links and sessions that the user created as an operator. Keys and tokens of the identity provider stay valid. A repeated call changes nothing.',
  request: {
    params: z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Id of the user.' }) }),
    query: DryRunQuery,
  },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'Signed out.' }, ...problemResponses([401, 404, 422]) },
})

/** Registers the operator's actions on console sessions (SESSION-15, SESSION-17). */
export function registerAdminSessions(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createLinkRoute, async (c) => c.json(await createSignInLink(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(endSessionsRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planEndSessions(operatorContext(c), id), 200)
    await endSessionsOf(operatorContext(c), id)
    return c.body(null, 204)
  })
}
