import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../contract/change-plan.ts'
import { CreateHeaders } from '../../contract/idempotency-key.ts'
import { SearchedPageQuery } from '../../contract/list-query.ts'
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
import { createOnce } from '../answers/create-once.ts'
import { changeOrPlan, endOrPlan } from '../answers/or-plan.ts'
import { type AppEnv, verbContext } from '../app-env.ts'
import { scopedByVerb } from '../middleware/scope.ts'
import { endedOrPlan, idParams, json, ok, okOrPlan } from '../openapi/rest-components.ts'
import { restRoutes } from '../openapi/routes.ts'

const PATH = '/v2/templates'
const ITEM_PATH = '/v2/templates/{id}'
const Params = idParams('Template id.')
const route = restRoutes('Templates')

const listRoute = route('get', PATH, 'templates:read', {
  operationId: 'listTemplates',
  summary: 'List own templates',
  description: 'The newest first by default. Public templates of other accounts are not included; read them by their ids.',
  request: { query: SearchedPageQuery },
  responses: { 200: ok('A page of templates.', ListTemplatesResponse) },
})

const createTemplateRoute = route('post', PATH, 'templates:write', {
  operationId: 'createTemplate',
  etagOf: 'template',
  summary: 'Create a template',
  description: 'Pods and endpoints use it by `templateId`. A repeated `Idempotency-Key` returns the template of the first call.',
  request: { body: json(CreateTemplateRequest), headers: CreateHeaders },
  responses: { 201: ok('The template.', Template) },
  problems: [409],
})

const getRoute = route('get', ITEM_PATH, scopedByVerb('templates:read'), {
  operationId: 'getTemplate',
  etagOf: 'template',
  summary: 'Read an own template, or a public one without a scope',
  description: "The registry credential of another account's template is not shown.",
  request: { params: Params },
  responses: { 200: ok('The template.', Template) },
})

const updateRoute = route('patch', ITEM_PATH, 'templates:write', {
  operationId: 'updateTemplate',
  etagOf: 'template',
  summary: 'Change an own template; resources that were created from it stay unchanged',
  description: 'Omitted members stay unchanged.',
  request: { params: Params, query: DryRunQuery, body: json(UpdateTemplateRequest) },
  responses: { 200: okOrPlan('The changed template.', TemplateOrChangePlan) },
  problems: [409],
})

const deleteRoute = route('delete', ITEM_PATH, 'templates:write', {
  operationId: 'deleteTemplate',
  etagOf: 'template',
  summary: 'Delete an own template that no live pod was made from',
  description: '400 while a live pod was made from it.',
  request: { params: Params, query: DryRunQuery },
  responses: endedOrPlan('Deleted.'),
  problems: [400],
})

/** Registers `/v2/templates` (TPL-1 to TPL-6). */
export function registerTemplates(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const page = await templates.listTemplates(verbContext(c), c.req.valid('query'))
    const { pagination, counts } = page
    return c.json({ templates: page.templates.map(toTemplate), pagination, ...(counts && { counts }) }, 200)
  })
  app.openapi(createTemplateRoute, (c) => createOnce(c, async (...given) => toTemplate(await templates.createTemplate(...given))))
  app.openapi(getRoute, async (c) => c.json(toTemplate(await templates.getTemplate(verbContext(c), c.req.valid('param').id)), 200))
  app.openapi(updateRoute, (c) =>
    changeOrPlan(c, verbContext(c), planUpdateTemplate, async (...given) => toTemplate(await templates.updateTemplate(...given))),
  )
  app.openapi(deleteRoute, (c) => endOrPlan(c, verbContext(c), planDeleteTemplate, templates.deleteTemplate))
}
