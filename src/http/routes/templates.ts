import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { PageQuery } from '../../contract/pagination.ts'
import {
  CreateTemplateRequest,
  ListTemplatesResponse,
  Template,
  TemplateOrChangePlan,
  UpdateTemplateRequest,
} from '../../contract/resources/templates.ts'
import { planUpdateTemplate } from '../../services/resources/plan-changes.ts'
import { planDeleteTemplate } from '../../services/resources/plan-deletions.ts'
import { toTemplate } from '../../services/resources/template-view.ts'
import * as templates from '../../services/resources/templates.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scoped } from '../middleware/scope.ts'
import { strictJson } from '../middleware/strict-json.ts'
import { problemResponses } from '../openapi/openapi-app.ts'
import { BEARER, json, ok, okOrPlan, PLANNED, RATE_HEADERS } from '../openapi/rest-components.ts'

const PATH = '/v2/templates'
const ITEM_PATH = '/v2/templates/{id}'
const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Template id.' }) })
const common = { tags: ['Templates'], security: BEARER }

const listRoute = createRoute({
  ...common,
  method: 'get',
  path: PATH,
  operationId: 'listTemplates',
  summary: 'List own templates, newest first',
  description: 'Public templates of other accounts are not included; read them by their ids.',
  ...scoped('templates:read', []),
  request: { query: PageQuery },
  responses: { 200: ok('A page of templates.', ListTemplatesResponse), ...problemResponses([401, 403, 422, 429], RATE_HEADERS) },
})

const createTemplateRoute = createRoute({
  ...common,
  method: 'post',
  path: PATH,
  operationId: 'createTemplate',
  etagOf: 'template',
  summary: 'Create a template',
  description: 'Pods and endpoints use it by `templateId`. A repeated `Idempotency-Key` returns the template of the first call.',
  ...scoped('templates:write', [strictJson]),
  request: { body: json(CreateTemplateRequest), headers: CreateHeaders },
  responses: { 201: ok('The template.', Template), ...problemResponses([400, 401, 403, 409, 413, 415, 422, 429], RATE_HEADERS) },
})

const getRoute = createRoute({
  ...common,
  method: 'get',
  path: ITEM_PATH,
  operationId: 'getTemplate',
  etagOf: 'template',
  summary: 'Read an own template, or a public one without a scope',
  description: "The registry credential of another account's template is not shown.",
  'x-scope': 'templates:read',
  request: { params: Params },
  responses: { 200: ok('The template.', Template), ...problemResponses([401, 403, 404, 429], RATE_HEADERS) },
})

const updateRoute = createRoute({
  ...common,
  method: 'patch',
  path: ITEM_PATH,
  operationId: 'updateTemplate',
  etagOf: 'template',
  summary: 'Change an own template; resources that were created from it stay unchanged',
  description: 'Omitted members stay unchanged.',
  ...scoped('templates:write', [strictJson]),
  request: { params: Params, query: DryRunQuery, body: json(UpdateTemplateRequest) },
  responses: {
    200: okOrPlan('The changed template.', TemplateOrChangePlan),
    ...problemResponses([400, 401, 403, 404, 409, 413, 415, 422, 429], RATE_HEADERS),
  },
})

const deleteRoute = createRoute({
  ...common,
  method: 'delete',
  path: ITEM_PATH,
  operationId: 'deleteTemplate',
  etagOf: 'template',
  summary: 'Delete an own template that no live pod was made from',
  description: '400 while a live pod was made from it.',
  ...scoped('templates:write', []),
  request: { params: Params, query: DryRunQuery },
  responses: {
    200: PLANNED,
    204: { description: 'Deleted.', headers: RATE_HEADERS },
    ...problemResponses([400, 401, 403, 404, 422, 429], RATE_HEADERS),
  },
})

/** Registers `/v2/templates` (TPL-1 to TPL-6). */
export function registerTemplates(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const page = await templates.listTemplates(verbContext(c), c.req.valid('query'))
    return c.json({ templates: page.templates.map(toTemplate), pagination: page.pagination }, 200)
  })
  app.openapi(createTemplateRoute, async (c) =>
    c.json(toTemplate(await templates.createTemplate(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key'])), 201),
  )
  app.openapi(getRoute, async (c) => c.json(toTemplate(await templates.getTemplate(verbContext(c), c.req.valid('param').id)), 200))
  app.openapi(updateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await planUpdateTemplate(verbContext(c), id, body), 200)
    return c.json(toTemplate(await templates.updateTemplate(verbContext(c), id, body)), 200)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDeleteTemplate(verbContext(c), id), 200)
    await templates.deleteTemplate(verbContext(c), id)
    return c.body(null, 204)
  })
}
