import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateSignInLinkRequest, SignInLink } from '../../../contract/console/sign-in-links.ts'
import { planEndSessions } from '../../../services/operator/plan-end.ts'
import { endSessionsOf } from '../../../services/sessions/console-sessions.ts'
import { createSignInLink } from '../../../services/sessions/sign-in-links.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')

const createLinkRoute = route('post', '/admin/v1/sign-in-links', {
  operationId: 'createSignInLink',
  summary: 'Create a link that signs a user in at the console once, within 12 hours',
  description:
    'The first person who opens it acts as that user, so protect it like a key. The link and its session end with the operator key that created it, or when the address of the operator is no longer listed. A session from a link cannot create links with `isOperator`.',
  request: { body: json(CreateSignInLinkRequest) },
  responses: { 201: answer('The link, shown only once.', SignInLink) },
  problems: [403, 404],
})

const endSessionsRoute = route('delete', '/admin/v1/users/{id}/sessions', {
  operationId: 'endSessions',
  summary: 'Sign a user out of the console everywhere',
  description:
    'In force everywhere within 60 seconds. Open links for the user end too, and links and sessions that the user created as an operator. Keys and tokens of the identity provider stay valid. A repeated call changes nothing.',
  request: { params: idParams('Id of the user.'), query: DryRunQuery },
  responses: operatorEndedOrPlan('Signed out.'),
})

/** Registers the operator's actions on console sessions (SESSION-15, SESSION-17). */
export function registerAdminSessions(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createLinkRoute, async (c) => c.json(await createSignInLink(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(endSessionsRoute, (c) => endOrPlan(c, operatorContext(c), planEndSessions, endSessionsOf))
}
