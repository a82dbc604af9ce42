import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CordonRequest, Host, HostOrChangePlan, ListHostsResponse } from '../../../contract/hosts/hosts.ts'
import * as machines from '../../../services/hosts/hosts.ts'
import { planCordonHost, planDrainHost, planRemoveHost } from '../../../services/hosts/plan-host.ts'
import { changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const Params = idParams('Host id.')
const route = operatorRoutes('Hosts')

const listHostsRoute = route('get', '/admin/v1/hosts', {
  operationId: 'listHosts',
  summary: 'List machines',
  description: 'Each machine with its health, its capacity and its workloads.',
  responses: { 200: answer('By name, without removed machines.', ListHostsResponse) },
})

const getHostRoute = route('get', '/admin/v1/hosts/{id}', {
  operationId: 'getHost',
  summary: 'Read a machine',
  description: 'Its health, its capacity and its workloads.',
  request: { params: Params },
  responses: { 200: answer('The machine.', Host) },
})

const removeHostRoute = route('delete', '/admin/v1/hosts/{id}', {
  operationId: 'removeHost',
  summary: 'Remove a machine on which nothing is placed',
  description: '409 while something is placed on it: drain it first.',
  request: { params: Params, query: DryRunQuery },
  responses: operatorEndedOrPlan('Removed.'),
  problems: [409],
})

const cordonBody = json(CordonRequest)

const cordonHostRoute = route('post', '/admin/v1/hosts/{id}/cordon', {
  operationId: 'cordonHost',
  summary: 'Cordon a machine: place no new work on it',
  description: 'Running workloads are not affected.',
  request: { params: Params, query: DryRunQuery, body: cordonBody },
  responses: { 200: operatorOkOrPlan('Running workloads stay.', HostOrChangePlan) },
})

const uncordonHostRoute = route('post', '/admin/v1/hosts/{id}/uncordon', {
  operationId: 'uncordonHost',
  summary: 'Uncordon a machine: place new work on it again',
  description: 'Also ends a drain, and lifts a cordon that the health of its GPUs has caused until a new problem shows.',
  request: { params: Params },
  responses: { 200: answer('The machine.', Host) },
})

const drainHostRoute = route('post', '/admin/v1/hosts/{id}/drain', {
  operationId: 'drainHost',
  summary: 'Drain a machine: cordon it and move or end its workloads',
  description:
    'Workers finish their running jobs, then stop and are replaced on other machines. `workloads` lists the remaining workloads.',
  request: { params: Params, query: DryRunQuery, body: cordonBody },
  responses: { 200: operatorOkOrPlan('The drain has started.', HostOrChangePlan) },
  problems: [503],
})

/** Registers the hosts of the operator API (AUT-4a). */
export function registerAdminHosts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(cordonHostRoute, (c) => changeOrPlan(c, operatorContext(c), ({ env }, id) => planCordonHost(env, id), machines.cordonHost))
  app.openapi(uncordonHostRoute, async (c) => c.json(await machines.uncordonHost(operatorContext(c), c.req.valid('param').id), 200))
  app.openapi(drainHostRoute, (c) => changeOrPlan(c, operatorContext(c), ({ env }, id) => planDrainHost(env, id), machines.drainHost))
  app.openapi(listHostsRoute, async (c) => c.json({ hosts: await machines.listHosts(c.env) }, 200))
  app.openapi(getHostRoute, async (c) => c.json(await machines.getHost(c.env, c.req.valid('param').id), 200))
  app.openapi(removeHostRoute, (c) => endOrPlan(c, operatorContext(c), ({ env }, id) => planRemoveHost(env, id), machines.removeHost))
}
