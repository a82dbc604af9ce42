import type { OpenAPIHono } from '@hono/zod-openapi'
import type { z } from 'zod'
import {
  CatalogItem,
  CatalogItemOrChangePlan,
  CatalogParams,
  DataCenterParams,
  ListCatalogItems,
  PutCatalogCpu,
  PutCatalogDataCenter,
  PutCatalogGpu,
  PutCatalogPublisher,
  PutCatalogStorage,
  StorageParams,
} from '../../../contract/catalog/entries.ts'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import type { CatalogKind, KeyedEntry } from '../../../domain/catalog/entries.ts'
import { deleteItem, getItem, listItems, putItem } from '../../../services/catalog/entries.ts'
import { cpuEntry, dataCenterEntry, gpuEntry, publisherEntry, storageEntry } from '../../../services/catalog/entry-bodies.ts'
import { planDeleteItem, planPutItem } from '../../../services/catalog/plan-entries.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Catalog')

/** One part of the catalog: the form of its ids and the schema of its bodies. */
interface Part<Id extends string, Body> {
  kind: CatalogKind
  path: string
  /** The noun in its operationIds. */
  noun: string
  label: string
  params: z.ZodObject<{ id: z.ZodType<Id> }>
  body: z.ZodType<Body>
  entry: (id: Id, body: Body) => KeyedEntry
}

/** Registers the operator's catalog entries (CAT-15). */
export function registerAdminCatalog(app: OpenAPIHono<AppEnv>): void {
  register(app, {
    kind: 'GPU',
    path: 'gpus',
    noun: 'Gpu',
    label: 'GPU type',
    params: CatalogParams,
    body: PutCatalogGpu,
    entry: gpuEntry,
  })
  register(app, {
    kind: 'CPU',
    path: 'cpus',
    noun: 'Cpu',
    label: 'CPU flavor',
    params: CatalogParams,
    body: PutCatalogCpu,
    entry: cpuEntry,
  })
  register(app, {
    kind: 'DATA_CENTER',
    path: 'datacenters',
    noun: 'DataCenter',
    label: 'data center',
    params: DataCenterParams,
    body: PutCatalogDataCenter,
    entry: dataCenterEntry,
  })
  register(app, {
    kind: 'STORAGE',
    path: 'storage',
    noun: 'Storage',
    label: 'storage price',
    params: StorageParams,
    body: PutCatalogStorage,
    entry: storageEntry,
  })
  register(app, {
    kind: 'PUBLISHER',
    path: 'publishers',
    noun: 'Publisher',
    label: 'publisher of templates',
    params: CatalogParams,
    body: PutCatalogPublisher,
    entry: publisherEntry,
  })
}

function register<Id extends string, Body>(app: OpenAPIHono<AppEnv>, part: Part<Id, Body>): void {
  const { kind, noun, label, params, body, entry } = part
  const path = `/admin/v1/catalog/${part.path}` as const
  const itemPath = `${path}/{id}` as const
  const routes = {
    list: route('get', path, {
      operationId: `listCatalog${noun}s`,
      summary: `List the operator's entries and the effective values: ${label}s`,
      description: "Each item has the operator's entry, if there is one, and the effective values.",
      responses: { 200: answer('The effective values.', ListCatalogItems) },
    }),
    get: route('get', itemPath, {
      operationId: `getCatalog${noun}`,
      summary: `Read the entry and the effective values of a ${label}`,
      description: "The operator's entry, if there is one, and the effective values.",
      request: { params },
      responses: { 200: answer('The effective values.', CatalogItem) },
      problems: [422],
    }),
    put: route('put', itemPath, {
      operationId: `putCatalog${noun}`,
      summary: `Set the entry of a ${label}; running workloads keep their price`,
      description: 'Replaces the previous entry; omitted members have the values of the seed. In force everywhere within 5 seconds.',
      request: { params, query: DryRunQuery, body: { required: true, content: { 'application/json': { schema: body } } } },
      responses: { 200: operatorOkOrPlan('The effective values.', CatalogItemOrChangePlan) },
      problems: [409],
    }),
    delete: route('delete', itemPath, {
      operationId: `deleteCatalog${noun}`,
      summary: `Remove the entry of a ${label}, so that the seed applies`,
      description: 'Refused while an existing resource uses the entry; the response names the resources.',
      request: { params, query: DryRunQuery },
      responses: operatorEndedOrPlan('The entry is removed.'),
      problems: [409],
    }),
  }
  app.openapi(routes.list, async (c) => c.json({ entries: await listItems(c.env, kind) }, 200))
  app.openapi(routes.get, async (c) => c.json(await getItem(c.env, kind, params.parse(c.req.param()).id), 200))
  app.openapi(routes.put, async (c) => {
    const given = entry(params.parse(c.req.param()).id, body.parse(await c.req.json()))
    if (DryRunQuery.parse(c.req.query()).dryRun) return c.json(await planPutItem(operatorContext(c), given), 200)
    return c.json(await putItem(operatorContext(c), given), 200)
  })
  app.openapi(routes.delete, async (c) => {
    const { id } = params.parse(c.req.param())
    if (DryRunQuery.parse(c.req.query()).dryRun) return c.json(await planDeleteItem(operatorContext(c), kind, id), 200)
    await deleteItem(operatorContext(c), kind, id)
    return c.body(null, 204)
  })
}
