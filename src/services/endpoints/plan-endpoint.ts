import type { ChangedResource, ChangePlan } from '../../contract/change-plan.ts'
import type { UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { readWorkerNanos } from '../../db/billing/spend.ts'
import { openDatabase } from '../../db/client.ts'
import { configBytes } from '../../db/endpoints/endpoints.ts'
import { planEndpointDelete, planEndpointUpdate } from '../../domain/plan/endpoint.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { type OwnEndpoint, own } from '../../objects/ownership/own.ts'
import { endpointStub } from '../../objects/stubs.ts'
import { requireBudget } from '../budgets.ts'
import { planChange } from '../change-plan.ts'
import type { VerbContext } from '../context.ts'
import { requireMatch } from '../precondition.ts'
import { requireScope } from '../require-scope.ts'
import { requireRegistry, requireRegistryScope } from '../resources/registries.ts'
import { decideUpdate, filledUpdate } from './endpoints.ts'

/** Returns the plan of deleting an endpoint (DRY-3), with the jobs and workers that its object reports. Throws 403 and 404. */
export async function planDeleteEndpoint(ctx: VerbContext, id: string): Promise<ChangePlan> {
  requireScope(ctx.principal, 'serverless:write')
  const endpoint = await own(ctx.env, ctx.principal, 'endpoint', id)
  const resource = resourceOf(endpoint)
  return planChange('endpoints.delete', resource, async () => {
    requireMatch(ctx, etagOf(endpoint.row.revision))
    const { impact, nanosPerHour } = await readImpact(ctx, endpoint)
    return planEndpointDelete(resource, impact, nanosPerHour)
  })
}

/** Returns the plan of a PATCH (DRY-7), by the same decisions as the PATCH. Throws 403, 404, 413 and 422. */
export async function planUpdateEndpoint(ctx: VerbContext, id: string, patch: UpdateEndpointRequest): Promise<ChangePlan> {
  requireScope(ctx.principal, 'serverless:write')
  requireRegistryScope(ctx, patch.registry)
  const endpoint = await own(ctx.env, ctx.principal, 'endpoint', id)
  const { row: before } = endpoint
  const resource = resourceOf(endpoint)
  return planChange('endpoints.update', resource, async () => {
    requireMatch(ctx, etagOf(before.revision))
    const { config: after } = await decideUpdate(ctx, before, await filledUpdate(ctx, id, patch), requireRegistry)
    const moreBytes = configBytes(after) - configBytes(before)
    if (moreBytes > 0) await requireBudget(ctx.env, before.teamId, { storedBytes: moreBytes })
    const [catalog, hanging] = await Promise.all([loadCatalog(ctx.env), readImpact(ctx, endpoint)])
    return planEndpointUpdate(resource, { before, after, catalog, ...hanging })
  })
}

async function readImpact(ctx: VerbContext, endpoint: OwnEndpoint) {
  const [impact, nanosPerHour] = await Promise.all([
    endpointStub(ctx.env, endpoint).impact(),
    readWorkerNanos(openDatabase(ctx.env.DB), endpoint.row.teamId, endpoint.id),
  ])
  return { impact, nanosPerHour }
}

function resourceOf({ id, row }: OwnEndpoint): ChangedResource {
  return { kind: 'endpoint', id, name: row.name }
}
