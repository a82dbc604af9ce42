import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { freeIdentities } from '../../../services/accounts/identities.ts'
import { planFreeIdentities } from '../../../services/operator/plan-end.ts'
import { endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { idParams, operatorEndedOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Accounts')

const freeIdentitiesRoute = route('delete', '/admin/v1/users/{id}/identities', {
  operationId: 'freeIdentities',
  summary: 'Unlink the identities of a user; the next verified sign-in with the address of the user is linked',
  description:
    'For a provider that changed the ids of its users, or assigned an address to another person. Keys stay valid; sessions end within 60 seconds. Tokens that the provider issued before the call, or within 30 seconds after it, are refused: the user has to sign in at the provider again. A person with a session at the provider still gets new tokens, so end the previous identity there as well.',
  request: { params: idParams('Id of the user.'), query: DryRunQuery },
  responses: operatorEndedOrPlan('The quotas are removed.'),
})

/** Registers the operator's actions on identities (OIDC-15). */
export function registerAdminIdentities(app: OpenAPIHono<AppEnv>): void {
  app.openapi(freeIdentitiesRoute, (c) => endOrPlan(c, operatorContext(c), planFreeIdentities, freeIdentities))
}
