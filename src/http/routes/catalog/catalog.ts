import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  CpuType,
  DataCenter,
  GpuType,
  ListCpuTypesResponse,
  ListDataCentersResponse,
  ListGpuTypesResponse,
  ListPublicTemplatesResponse,
} from '../../../contract/catalog/catalog.ts'
import {
  CpuCatalogQuery,
  DataCenterListQuery,
  DataCenterQuery,
  GpuCatalogQuery,
  TemplateCatalogQuery,
} from '../../../contract/catalog/query.ts'
import { WHOLE_PAGE } from '../../../contract/pagination.ts'
import { getCpuType, listCpuTypes } from '../../../services/catalog/cpus.ts'
import { getShownDataCenter, listShownDataCenters } from '../../../services/catalog/data-centers.ts'
import { getGpuType, listGpuTypes } from '../../../services/catalog/gpus.ts'
import { listCatalogTemplates } from '../../../services/catalog/templates.ts'
import { toTemplate } from '../../../services/resources/template-view.ts'
import { type AppEnv, verbContext } from '../../app-env.ts'
import { scopedByVerb } from '../../middleware/scope.ts'
import { idParams, ok } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const Params = idParams('Id, percent-encoded.')
const route = restRoutes('Catalog')
/** Every key may read the catalog, whatever its scopes (AUT-4). */
const ANY_KEY = scopedByVerb('none')

const listGpusRoute = route('get', '/v2/catalog/gpus', ANY_KEY, {
  operationId: 'listGpuTypes',
  summary: 'List the GPU types and their prices',
  description:
    'With `include=AVAILABILITY` each item has the number that could be placed now, the data centers and the CUDA versions. Prices are USD for one GPU and hour.',
  request: { query: GpuCatalogQuery },
  responses: { 200: ok('The GPU types.', ListGpuTypesResponse) },
  problems: [400],
})

const getGpuRoute = route('get', '/v2/catalog/gpus/{id}', ANY_KEY, {
  operationId: 'getGpuType',
  summary: 'Read a GPU type',
  description: 'Spaces of the id are percent-encoded in the path. The filters are those of the list.',
  request: { params: Params, query: GpuCatalogQuery },
  responses: { 200: ok('The GPU type.', GpuType) },
  problems: [400],
})

const listCpusRoute = route('get', '/v2/catalog/cpus', ANY_KEY, {
  operationId: 'listCpuTypes',
  summary: 'List the CPU flavors and their prices',
  description: 'With `include=AVAILABILITY` each item has the number that could be placed now. Prices are USD for one vCPU and hour.',
  request: { query: CpuCatalogQuery },
  responses: { 200: ok('The CPU flavors.', ListCpuTypesResponse) },
  problems: [400],
})

const getCpuRoute = route('get', '/v2/catalog/cpus/{id}', ANY_KEY, {
  operationId: 'getCpuType',
  summary: 'Read a CPU flavor',
  description: 'The filters are those of the list.',
  request: { params: Params, query: CpuCatalogQuery },
  responses: { 200: ok('The CPU flavor.', CpuType) },
  problems: [400],
})

const listDataCentersRoute = route('get', '/v2/catalog/datacenters', ANY_KEY, {
  operationId: 'listDataCenters',
  summary: 'List the data centers',
  description: 'Data centers of the catalog, and those that machines have joined. `include` adds the free GPUs and CPUs.',
  request: { query: DataCenterListQuery },
  responses: { 200: ok('The data centers.', ListDataCentersResponse) },
})

const getDataCenterRoute = route('get', '/v2/catalog/datacenters/{id}', ANY_KEY, {
  operationId: 'getDataCenter',
  summary: 'Read a data center',
  description: '`include` adds the free GPUs and CPUs.',
  request: { params: Params, query: DataCenterQuery },
  responses: { 200: ok('The data center.', DataCenter) },
})

const listTemplatesRoute = route('get', '/v2/catalog/templates', ANY_KEY, {
  operationId: 'listPublicTemplates',
  summary: 'List public templates, newest first',
  description: 'Official and verified templates are of accounts that the operator lists; all others are of the community.',
  request: { query: TemplateCatalogQuery },
  responses: { 200: ok('At most 100 templates.', ListPublicTemplatesResponse) },
})

/** Registers `/v2/catalog` (CAT-1 to CAT-6). */
export function registerCatalog(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listGpusRoute, async (c) => c.json({ gpus: await listGpuTypes(verbContext(c), c.req.valid('query')) }, 200))
  app.openapi(getGpuRoute, async (c) => c.json(await getGpuType(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200))
  app.openapi(listCpusRoute, async (c) => c.json({ cpus: await listCpuTypes(verbContext(c), c.req.valid('query')) }, 200))
  app.openapi(getCpuRoute, async (c) => c.json(await getCpuType(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200))
  app.openapi(listDataCentersRoute, async (c) => {
    return c.json({ dataCenters: await listShownDataCenters(verbContext(c), c.req.valid('query')) }, 200)
  })
  app.openapi(getDataCenterRoute, async (c) => {
    return c.json(await getShownDataCenter(verbContext(c), c.req.valid('param').id, c.req.valid('query')), 200)
  })
  app.openapi(listTemplatesRoute, async (c) => {
    const templates = await listCatalogTemplates(verbContext(c), c.req.valid('query').source)
    return c.json({ templates: templates.map(toTemplate), pagination: WHOLE_PAGE }, 200)
  })
}
