import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import {
  CordonRequest,
  CreateJoinTokenRequest,
  Host,
  HostOrChangePlan,
  ListHostsResponse,
  ListJoinTokensResponse,
  NewJoinToken,
} from '../../../contract/hosts/hosts.ts'
import { ListWaitingQuery, ListWaitingResponse } from '../../../contract/hosts/waiting.ts'
import { IfNoneMatchHeaders, MetricsQuery, MetricsResponse } from '../../../contract/metrics.ts'
import { getHostMetrics } from '../../../services/hosts/host-metrics.ts'
import * as machines from '../../../services/hosts/hosts.ts'
import * as joinTokens from '../../../services/hosts/join-tokens.ts'
import { planCordonHost, planDrainHost, planRemoveHost } from '../../../services/hosts/plan-host.ts'
import { listWaiting } from '../../../services/hosts/waiting.ts'
import { planRevokeJoinToken } from '../../../services/operator/plan-end.ts'
import { changeOrPlan, endOrPlan } from '../../answers/or-plan.ts'
import { answerTagged, taggedAnswers } from '../../answers/tagged-answer.ts'
import { type AppEnv, operatorContext } from '../../app-env.ts'
import { answer, idParams, json, operatorEndedOrPlan, operatorOkOrPlan } from '../../openapi/rest-components.ts'
import { operatorRoutes } from '../../openapi/routes.ts'

const route = operatorRoutes('Hosts')
const TokenParams = idParams('Token id.')
const Params = idParams('Host id.')

const createJoinTokenRoute = route('post', '/admin/v1/join-tokens', {
  operationId: 'createJoinToken',
  summary: 'Create a token with which one machine can join within 30 minutes',
  description: 'It sets the data center and the cloud of the machine, is valid for one machine, and is shown only in this response.',
  request: { body: json(CreateJoinTokenRequest) },
  responses: { 201: answer('The token, shown only once.', NewJoinToken) },
})

const listJoinTokensRoute = route('get', '/admin/v1/join-tokens', {
  operationId: 'listJoinTokens',
  summary: 'List join tokens',
  description: 'Used, expired and unused tokens, without their secrets.',
  responses: {
    200: answer(
      'Newest first, including those used or expired within the last 30 days, without the secrets. At most 1000.',
      ListJoinTokensResponse,
    ),
  },
})

const revokeJoinTokenRoute = route('delete', '/admin/v1/join-tokens/{id}', {
  operationId: 'revokeJoinToken',
  summary: 'Revoke a join token that no machine has used',
  description: '409 if a machine has joined with it.',
  request: { params: TokenParams, query: DryRunQuery },
  responses: operatorEndedOrPlan('Revoked.'),
  problems: [409],
})

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

const waitingRoute = route('get', '/admin/v1/waiting', {
  operationId: 'listWaiting',
  summary: 'List endpoints that wait for capacity, the longest first',
  description: 'Endpoints with a worker that no host has capacity for, its requirements, and how many hosts violate each constraint.',
  request: { query: ListWaitingQuery },
  responses: { 200: answer('A page, at most 200.', ListWaitingResponse) },
})

const metricsRoute = route('get', '/admin/v1/hosts/{id}/metrics', {
  operationId: 'getHostMetrics',
  summary: 'Read the resource use of a machine over time',
  description: 'Stored every 5 s for 10 minutes, every minute for 24 hours and every 15 minutes for 30 days; deleted with the machine.',
  request: { params: idParams('Host id.'), query: MetricsQuery, headers: IfNoneMatchHeaders },
  responses: taggedAnswers(answer('The series.', MetricsResponse)),
})

/** Registers hosts, their join tokens and their history, and the workloads that wait for capacity (AUT-4a, HIS-7, WHY-13). */
export function registerAdminHosts(app: OpenAPIHono<AppEnv>): void {
  app.openapi(createJoinTokenRoute, async (c) => c.json(await joinTokens.createJoinToken(operatorContext(c), c.req.valid('json')), 201))
  app.openapi(listJoinTokensRoute, async (c) => c.json({ joinTokens: await joinTokens.listJoinTokens(c.env) }, 200))
  app.openapi(revokeJoinTokenRoute, (c) => endOrPlan(c, operatorContext(c), planRevokeJoinToken, joinTokens.revokeJoinToken))
  app.openapi(cordonHostRoute, (c) => changeOrPlan(c, operatorContext(c), ({ env }, id) => planCordonHost(env, id), machines.cordonHost))
  app.openapi(uncordonHostRoute, async (c) => c.json(await machines.uncordonHost(operatorContext(c), c.req.valid('param').id), 200))
  app.openapi(drainHostRoute, (c) => changeOrPlan(c, operatorContext(c), ({ env }, id) => planDrainHost(env, id), machines.drainHost))
  app.openapi(listHostsRoute, async (c) => c.json({ hosts: await machines.listHosts(c.env) }, 200))
  app.openapi(getHostRoute, async (c) => c.json(await machines.getHost(c.env, c.req.valid('param').id), 200))
  app.openapi(removeHostRoute, (c) => endOrPlan(c, operatorContext(c), ({ env }, id) => planRemoveHost(env, id), machines.removeHost))
  app.openapi(waitingRoute, async (c) => c.json(await listWaiting(operatorContext(c), c.req.valid('query')), 200))
  app.openapi(metricsRoute, async (c) =>
    answerTagged(c, await getHostMetrics(operatorContext(c), c.req.valid('param').id, c.req.valid('query'))),
  )
}
