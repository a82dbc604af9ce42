import { CreateEndpointRequest, UpdateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import { V1CreateEndpoint, V1UpdateEndpoint } from '../../contract/v1/bodies.ts'
import type { EndpointConfig } from '../../domain/endpoint/record.ts'
import { endpointCreate, endpointPatch, needsScaling, v1Endpoint, v1EndpointTemplate, v1Worker } from '../../domain/v1/endpoints.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import { toEndpoint } from '../../services/endpoints/endpoint-view.ts'
import { listWorkers } from '../../services/endpoints/endpoint-workers.ts'
import * as endpoints from '../../services/endpoints/endpoints.ts'
import { readPages } from '../pages.ts'
import { isAsked } from './includes.ts'
import { asV2, mapped, type V1Call, type V1Route, v1BodyRoute, v1DeleteRoute, v1Route } from './route.ts'

type Call = V1Call<unknown>

/** Empty base addresses: v1 shows no addresses of endpoints. */
const NOWHERE = { serverlessUrl: '', lbDomain: null }
/** Most endpoints whose workers one list includes: each needs a call of its own (LEG-9). */
const MAX_WITH_WORKERS = 200

/** Serverless endpoints of v1 (LEG-9): `/endpoints`. */
export const ENDPOINT_ROUTES: readonly V1Route[] = [
  v1Route('GET', '/endpoints', 'serverless:read', list),
  v1BodyRoute('POST', '/endpoints', 'serverless:write', V1CreateEndpoint, create),
  v1Route('GET', '/endpoints/:id', 'serverless:read', async (call) => show(call, await endpoints.getEndpoint(call.ctx, call.id))),
  v1BodyRoute('PATCH', '/endpoints/:id', 'serverless:write', V1UpdateEndpoint, update),
  v1BodyRoute('POST', '/endpoints/:id/update', 'serverless:write', V1UpdateEndpoint, update),
  v1DeleteRoute('/endpoints/:id', 'serverless:write', endpoints.deleteEndpoint),
]

async function list(call: Call): Promise<Response> {
  const configs = await readPages(async (cursor) => {
    const page = await endpoints.listEndpoints(call.ctx, { limit: 1000, cursor })
    return { items: page.endpoints, next: page.pagination.nextCursor }
  })
  const shown = await mapAtOnce([...configs.entries()], ([index, config]) => view(call, config, index < MAX_WITH_WORKERS))
  return call.c.json(shown, 200)
}

async function create(call: V1Call<V1CreateEndpoint>): Promise<Response> {
  const body = asV2(CreateEndpointRequest, mapped(endpointCreate(call.body, await loadCatalog(call.ctx.env))))
  return show(call, await endpoints.createEndpoint(call.ctx, body, call.key))
}

async function update(call: V1Call<V1UpdateEndpoint>): Promise<Response> {
  const scaling = needsScaling(call.body) ? (await endpoints.getEndpoint(call.ctx, call.id)).scaling : null
  const body = asV2(UpdateEndpointRequest, mapped(endpointPatch(call.body, scaling, await loadCatalog(call.ctx.env))))
  return show(call, await endpoints.updateEndpoint(call.ctx, call.id, body))
}

async function show(call: Call, config: EndpointConfig): Promise<Response> {
  return call.c.json(await view(call, config, true), 200)
}

async function view({ ctx, query }: Call, config: EndpointConfig, mayAskWorkers: boolean) {
  const catalog = await loadCatalog(ctx.env)
  const endpoint = toEndpoint(catalog, config, NOWHERE)
  const templateId = config.templateId ?? null
  const workers = mayAskWorkers && isAsked(query, 'includeWorkers') ? (await listWorkers(ctx, config.id)).workers : null
  return {
    ...v1Endpoint(endpoint, { templateId, version: config.version }, catalog),
    ...(isAsked(query, 'includeTemplate') && { template: v1EndpointTemplate(endpoint, templateId) }),
    ...(workers && { workers: workers.map(v1Worker) }),
  }
}
