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
  summary: 'Make a link that signs a user in at the console once, within 12 hours',
  description:
    'The first person who opens it is that user: hand it over as you would a key. It and its session end with the operator key that makes it, or with the listed address of the operator who does. A session by link makes none with `isOperator`.',
  request: { body: json(CreateSignInLinkRequest) },
  responses: { 201: answer('The link, shown this once.', SignInLink) },
  problems: [403, 404],
})

const endSessionsRoute = route('delete', '/admin/v1/users/{id}/sessions', {
  operationId: 'endSessions',
  summary: 'Sign a user out of the console everywhere',
  description:
    'At once here, within 60 seconds everywhere. Open links to the user end too, and links and sessions that the user made as an operator. Keys and tokens of the identity provider go on. Doing it again changes nothing.',
  request: { params: idParams('Id of the user.'), query: DryRunQuery },
  responses: operatorEndedOrPlan('Signed out.'),
})

/** Registers the operator's actions on console sessions (SESSION-15, SESSION-17). */
export function registerAdminSessions(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createLinkRoute, async (c) => c.json(await createSignInLink(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(endSessionsRoute, (c) => endOrPlan(c, operatorContext(c), planEndSessions, endSessionsOf))
}
