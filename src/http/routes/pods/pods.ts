import type { OpenAPIHono } from '@hono/zod-openapi'
import { DryRunQuery } from '../../../contract/change-plan.ts'
import { CreateHeaders } from '../../../contract/idempotency-key.ts'
import {
  CreatePodQuery,
  CreatePodRequest,
  GetPodQuery,
  IfMatchHeaders,
  ListPodsQuery,
  ListPodsResponse,
  Pod,
  PodActionRequest,
  PodOrChangePlan,
  PodPlacementPreview,
  UpdatePodRequest,
} from '../../../contract/pods/pods.ts'
import { withSpend } from '../../../services/billing/listed-spend.ts'
import { actOnPod, updatePod } from '../../../services/pods/change-pod.ts'
import { createPod, previewPod } from '../../../services/pods/create-pod.ts'
import { planAction, planUpdatePod, type TaggedPlan } from '../../../services/pods/plan-pod.ts'
import { getPod, listPods } from '../../../services/pods/pods.ts'
import { waitForPod } from '../../../services/pods/wait-for-pod.ts'
import { answerInPieces } from '../../answer-in-pieces.ts'
import { type AppContext, type AppEnv, verbContext } from '../../app-env.ts'
import { ENDS_BY_ACTION } from '../../middleware/ending.ts'
import { scoped } from '../../middleware/scope.ts'
import { idParams, json, ok, okOrPlan, PLANNED, plannedOrMade, RATE_HEADERS } from '../../openapi/rest-components.ts'
import { restRoutes } from '../../openapi/routes.ts'

const PATH = '/v2/pods'
const ITEM_PATH = '/v2/pods/{id}'
const Params = idParams('Pod id.')
const route = restRoutes('Pods')
const READ = 'pods:read'
const WRITE = 'pods:write'
const TAGGED = { ETag: { description: 'Version of the pod, for `If-Match`.', schema: { type: 'string' as const, example: '"3"' } } }
const taggedPod = (description: string) => tagged(ok(description, Pod))
const tagged = <Answer extends { headers: object }>(answer: Answer) => ({ ...answer, headers: { ...answer.headers, ...TAGGED } })

const listRoute = route('get', PATH, READ, {
  operationId: 'listPods',
  summary: 'List pods',
  description: "A page of the account's pods, newest first by default; members of clusters only with `includeClusterPods`.",
  request: { query: ListPodsQuery },
  responses: { 200: ok('A page of pods.', ListPodsResponse) },
})

const createPodRoute = route('post', PATH, WRITE, {
  operationId: 'createPod',
  summary: 'Create a pod and start it',
  description:
    'With `dryRun` nothing is created and the response contains the placement of the pod. A repeated `Idempotency-Key` returns the pod of the first call.',
  request: { body: json(CreatePodRequest), query: CreatePodQuery, headers: CreateHeaders },
  responses: {
    200: plannedOrMade('PodOrPlacementPreview', 'With `dryRun`: the placement of the pod.', PodPlacementPreview, Pod),
    201: taggedPod('The pod.'),
  },
  problems: [402, 404, 409],
})

const getRoute = route('get', ITEM_PATH, scoped(READ, 'id'), {
  operationId: 'getPod',
  summary: 'Read a pod, immediately or when it reaches a status',
  description:
    'With `waitFor` the response is delayed until the pod has that status, at most 25 seconds. Send the `ETag` as `If-Match` of a change.',
  request: { params: Params, query: GetPodQuery },
  responses: { 200: taggedPod('The pod.') },
})

const updateRoute = route('patch', ITEM_PATH, scoped(WRITE, 'id'), {
  operationId: 'updatePod',
  summary: 'Change a pod in place',
  description: 'Omitted members stay unchanged. A change of the container restarts it; kinds of mounts and volumes are fixed at create.',
  request: { params: Params, query: DryRunQuery, body: json(UpdatePodRequest), headers: IfMatchHeaders },
  responses: { 200: tagged(okOrPlan('The changed pod.', PodOrChangePlan)) },
  problems: [402, 409, 412],
})

const actionRoute = route('post', '/v2/pods/{id}/action', scoped(WRITE, 'id', 'pods:act'), {
  operationId: 'actOnPod',
  summary: 'Start, stop, restart or terminate a pod',
  description: 'A locked pod can only be started or terminated; `stop` and `restart` are 409 with `code` LOCKED.',
  middleware: [ENDS_BY_ACTION],
  request: { params: Params, query: DryRunQuery, body: json(PodActionRequest), headers: IfMatchHeaders },
  responses: {
    200: tagged(okOrPlan('The changed pod.', PodOrChangePlan)),
    204: { description: 'Terminated.', headers: RATE_HEADERS },
  },
  problems: [402, 409, 412],
})

const deleteRoute = route('delete', ITEM_PATH, scoped(WRITE, 'id', 'pods:act'), {
  operationId: 'deletePod',
  summary: 'Terminate a pod: its container and its persistent mount are destroyed',
  description: 'Network and global volumes keep their data. A pod of a cluster is deleted only with its cluster.',
  request: { params: Params, query: DryRunQuery, headers: IfMatchHeaders },
  responses: { 200: tagged(PLANNED), 204: { description: 'Terminated.', headers: RATE_HEADERS } },
  problems: [409, 412],
})

/** Registers `/v2/pods` (POD-1 to POD-22). */
export function registerPods(app: OpenAPIHono<AppEnv>): void {
  app.openapi(listRoute, async (c) => {
    const ctx = verbContext(c)
    const { pods, pagination, silentSinceMs, counts } = await listPods(ctx, c.req.valid('query'))
    return answerInPieces(c, { pods: await withSpend(ctx, 'POD', pods, silentSinceMs), pagination, ...(counts && { counts }) })
  })
  app.openapi(createPodRoute, async (c) => {
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return c.json(await previewPod(verbContext(c), body), 200)
    const { pod, etag } = await createPod(verbContext(c), body, c.req.valid('header')['Idempotency-Key'])
    return c.json(pod, 201, { ETag: etag })
  })
  app.openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { waitFor } = c.req.valid('query')
    const { pod, etag } = await (waitFor ? waitForPod(verbContext(c), id, waitFor, c.req.raw.signal) : getPod(verbContext(c), id))
    return c.json(pod, 200, { ETag: etag })
  })
  app.openapi(updateRoute, async (c) => {
    const ifMatch = c.req.valid('header')['If-Match']
    const { id } = c.req.valid('param')
    const body = c.req.valid('json')
    if (c.req.valid('query').dryRun) return planned(c, await planUpdatePod(verbContext(c), id, body, ifMatch))
    const { pod, etag } = await updatePod(verbContext(c), id, body, ifMatch)
    return c.json(pod, 200, { ETag: etag })
  })
  app.openapi(actionRoute, async (c) => {
    const { action } = c.req.valid('json')
    const { id } = c.req.valid('param')
    const ifMatch = c.req.valid('header')['If-Match']
    if (c.req.valid('query').dryRun) return planned(c, await planAction(verbContext(c), id, action, ifMatch))
    const acted = await actOnPod(verbContext(c), id, action, ifMatch)
    return acted ? c.json(acted.pod, 200, { ETag: acted.etag }) : c.body(null, 204)
  })
  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param')
    const ifMatch = c.req.valid('header')['If-Match']
    if (c.req.valid('query').dryRun) return planned(c, await planAction(verbContext(c), id, 'terminate', ifMatch))
    await actOnPod(verbContext(c), id, 'terminate', ifMatch)
    return c.body(null, 204)
  })
}

const planned = (c: AppContext, { plan, etag }: TaggedPlan) => c.json(plan, 200, { ETag: etag })
