import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CordonRequest, Host, HostOrChangePlan, ListHostsResponse } from '../../../contract/hosts/hosts.ts'
import * as machines from '../../../services/hosts/hosts.ts'
import { planCordonHost, planDrainHost, planRemoveHost } from '../../../services/hosts/plan-host.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { strictJson } from '../../middleware/strict-json.ts'
import { problemResponses } from '../../openapi/openapi-app.ts'
import { BEARER, operatorOkOrPlan, PLANNED_FOR_OPERATOR } from '../../openapi/rest-components.ts'

const Params = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' }, description: 'Host id.' }) })
const common = { tags: ['Hosts'], security: BEARER }

const listHostsRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/hosts',
  operationId: 'listHosts',
  summary: 'List machines',
  description: 'Each machine with its health, its capacity and its workloads.',
  responses: {
    200: { description: 'By name, without removed machines.', content: { 'application/json': { schema: ListHostsResponse } } },
    ...problemResponses([401]),
  },
})

const getHostRoute = createRoute({
  ...common,
  method: 'get',
  path: '/admin/v1/hosts/{id}',
  operationId: 'getHost',
  summary: 'Read a machine',
  description: 'Its health, its capacity and its workloads.',
  request: { params: Params },
  responses: {
    200: { description: 'The machine.', content: { 'application/json': { schema: Host } } },
    ...problemResponses([401, 404]),
  },
})

const removeHostRoute = createRoute({
  ...common,
  method: 'delete',
  path: '/admin/v1/hosts/{id}',
  operationId: 'removeHost',
  summary: 'Remove a machine on which nothing is placed',
  description: '409 while something is placed on it: drain it first.',
  request: { params: Params, query: DryRunQuery },
  responses: { 200: PLANNED_FOR_OPERATOR, 204: { description: 'Removed.' }, ...problemResponses([401, 404, 409, 422]) },
})

const host = { content: { 'application/json': { schema: Host } } }
const cordonBody = { required: true, content: { 'application/json': { schema: CordonRequest } } }

const cordonHostRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/hosts/{id}/cordon',
  operationId: 'cordonHost',
  summary: 'Cordon a machine: place no new work on it',
  description: 'Running workloads are not affected.',
  middleware: strictJson,
  request: { params: Params, query: DryRunQuery, body: cordonBody },
  responses: {
    200: operatorOkOrPlan('Running workloads stay.', HostOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422]),
  },
})

const uncordonHostRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/hosts/{id}/uncordon',
  operationId: 'uncordonHost',
  summary: 'Uncordon a machine: place new work on it again',
  description: 'Also ends a drain, and lifts a cordon that the health of its GPUs has caused until a new problem shows.',
  request: { params: Params },
  responses: { 200: { description: 'The machine.', ...host }, ...problemResponses([401, 404]) },
})

const drainHostRoute = createRoute({
  ...common,
  method: 'post',
  path: '/admin/v1/hosts/{id}/drain',
  operationId: 'drainHost',
  summary: 'Drain a machine: cordon it and move or end its workloads',
  description:
    'Workers finish their running jobs, then stop and are replaced on other machines. `workloads` lists the remaining workloads.',
  middleware: strictJson,
  request: { params: Params, query: DryRunQuery, body: cordonBody },
  responses: {
    200: operatorOkOrPlan('The drain has started.', HostOrChangePlan),
    ...problemResponses([400, 401, 404, 413, 415, 422, 503]),
  },
})

/** Registers the hosts of the operator API (AUT-4a). */
export function registerAdminHosts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(cordonHostRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planCordonHost(c.env, id), 200)
    return c.json(await machines.cordonHost(operatorContext(c), id, c.req.valid('json')), 200)
  })
  app.openapi(uncordonHostRoute, async (c) => c.json(await machines.uncordonHost(operatorContext(c), c.req.valid('param').id), 200))
  app.openapi(drainHostRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planDrainHost(c.env, id), 200)
    return c.json(await machines.drainHost(operatorContext(c), id, c.req.valid('json')), 200)
  })
  app.openapi(listHostsRoute, async (c) => c.json({ hosts: await machines.listHosts(c.env) }, 200))
  app.openapi(getHostRoute, async (c) => c.json(await machines.getHost(c.env, c.req.valid('param').id), 200))
  app.openapi(removeHostRoute, async (c) => {
    const { id } = c.req.valid('param')
    if (c.req.valid('query').dryRun) return c.json(await planRemoveHost(c.env, id), 200)
    await machines.removeHost(operatorContext(c), id)
    return c.body(null, 204)
  })
}
