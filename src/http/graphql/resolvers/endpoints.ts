import { CreateEndpointRequest, UpdateEndpointRequest } from '../../../contract/endpoints/endpoints.ts'
import type { EndpointConfig } from '../../../domain/endpoint/record.ts'
import { type EndpointInput, endpointBody, endpointEdit } from '../../../domain/graphql/endpoint-inputs.ts'
import { type FlatEndpoint, flatEndpoint, implicitTemplateId } from '../../../domain/graphql/endpoints.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { mapAtOnce } from '../../../platform/at-once.ts'
import { toEndpoint } from '../../../services/endpoints/endpoint-view.ts'
import { listWorkersOf } from '../../../services/endpoints/endpoint-workers.ts'
import * as endpoints from '../../../services/endpoints/endpoints.ts'
import { readPages } from '../../pages.ts'
import { batched } from '../batch.ts'
import type { Call, Resolvers } from '../call.ts'
import { checked, mapped, needed } from '../checked.ts'
import { listVolumesOnce } from './volumes.ts'

/** Empty base addresses: GraphQL shows no addresses of endpoints. */
export const NOWHERE = { serverlessUrl: '', lbDomain: null }
/** Most endpoints whose workers one request lists: each needs a call of its own. */
const MAX_WITH_WORKERS = 200

interface TemplateChange {
  endpointId?: string | null
  templateId?: string | null
}

/** Resolvers of endpoints (GQL-22). */
export const ENDPOINT_RESOLVERS: Resolvers = {
  Endpoint: {
    networkVolume: async ({ networkVolumeId }: FlatEndpoint, _, call) =>
      networkVolumeId === null ? null : ((await listVolumesOnce(call)).find(({ id }) => id === networkVolumeId) ?? null),
    pods: ({ id }: FlatEndpoint, _, call) => workersOf(call, id),
  },
  Mutation: {
    saveEndpoint: (_, { input }: { input?: EndpointInput | null }, call) => saveEndpoint(call, needed(input)),
    updateEndpointTemplate: async (_, { input }: { input?: TemplateChange | null }, call) => {
      const { endpointId, templateId } = needed(input)
      const id = needed(endpointId, 'endpointId')
      const named = needed(templateId, 'templateId')
      // The endpoint's own implicit template is the one that it already has.
      const patch = named === implicitTemplateId(id) ? {} : { templateId: named }
      return show(call, await endpoints.updateEndpoint(call.ctx, id, patch, { isBound: true }))
    },
    deleteEndpoint: async (_, { id }, { ctx }) => {
      await endpoints.deleteEndpoint(ctx, needed(id, 'id'))
      return null
    },
  },
}

/** All endpoints of the account. */
export async function listAllEndpoints(call: Call): Promise<FlatEndpoint[]> {
  const configs = await readPages(async (cursor) => {
    const page = await endpoints.listEndpoints(call.ctx, { limit: 1000, cursor })
    return { items: page.endpoints, next: page.pagination.nextCursor }
  })
  return mapAtOnce(configs, (config) => show(call, config))
}

/** One endpoint of the account. */
export async function readEndpoint(call: Call, id: string): Promise<FlatEndpoint> {
  return show(call, await endpoints.getEndpoint(call.ctx, id))
}

/** Creates an endpoint, or updates the one with `input.id` (GQL-22). */
export async function saveEndpoint(call: Call, input: EndpointInput): Promise<FlatEndpoint> {
  const { ctx, key } = call
  const catalog = await loadCatalog(ctx.env)
  if (!input.id) {
    const body = checked(CreateEndpointRequest, mapped(endpointBody(input, catalog)))
    return show(call, await endpoints.createEndpoint(ctx, body, key))
  }
  const before = await endpoints.findForUpdate(ctx, input.id)
  const patch = checked(UpdateEndpointRequest, mapped(endpointEdit(input, before, catalog)))
  return show(call, await endpoints.updateEndpoint(ctx, input.id, patch, { isBound: true }))
}

async function show({ ctx }: Call, config: EndpointConfig): Promise<FlatEndpoint> {
  return flatEndpoint(toEndpoint(await loadCatalog(ctx.env), config, NOWHERE), config, ctx.principal.userId)
}

async function workersOf(call: Call, id: string) {
  const workers = await batched(call, 'workers', id, (ids) => listWorkersOf(call.ctx, ids.slice(0, MAX_WITH_WORKERS)))
  return (workers ?? []).map((worker) => ({
    id: worker.id,
    desiredStatus: worker.status === 'THROTTLED' ? 'EXITED' : 'RUNNING',
    imageName: worker.image,
    gpuCount: worker.gpuCount,
  }))
}
