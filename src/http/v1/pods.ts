import { FlatPodPatch } from '../../contract/flat/bodies.ts'
import { CreatePodRequest, type Pod, UpdatePodRequest } from '../../contract/pods/pods.ts'
import { V1CreatePod } from '../../contract/v1/bodies.ts'
import { needsMounts, podPatch } from '../../domain/flat/pod-patch.ts'
import { isWanted, podCandidates, v1Machine, v1Pod } from '../../domain/v1/pods.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { mapInPieces } from '../../platform/yield-thread.ts'
import { actOnPod, resetPod, updatePod } from '../../services/pods/change-pod.ts'
import { createFirstFit } from '../../services/pods/first-fit.ts'
import { getPod, listPods } from '../../services/pods/pods.ts'
import { answerInPieces } from '../answer-in-pieces.ts'
import { readPages } from '../pages.ts'
import { includeTemplates, includeVolumes, isAsked } from './includes.ts'
import { asV2, mapped, type V1Call, type V1Route, v1BodyRoute, v1DeleteRoute, v1Route } from './route.ts'

/** Pods that are converted in one step; a step takes a few milliseconds. */
const AT_ONCE = 50

type Call = V1Call<unknown>

/** Pods of v1 (LEG-6): `/pods`. */
export const POD_ROUTES: readonly V1Route[] = [
  v1Route('GET', '/pods', 'pods:read', list),
  v1BodyRoute('POST', '/pods', 'pods:write', V1CreatePod, create),
  v1Route('GET', '/pods/:id', 'pods:read', async (call) => show(call, (await getPod(call.ctx, call.id)).pod)),
  v1BodyRoute('PATCH', '/pods/:id', 'pods:write', FlatPodPatch, update),
  v1BodyRoute('POST', '/pods/:id/update', 'pods:write', FlatPodPatch, update),
  v1DeleteRoute('/pods/:id', 'pods:write', (ctx, id) => actOnPod(ctx, id, 'terminate', undefined)),
  v1Route('POST', '/pods/:id/start', 'pods:write', (call) => act(call, 'start')),
  v1Route('POST', '/pods/:id/stop', 'pods:write', (call) => act(call, 'stop')),
  v1Route('POST', '/pods/:id/restart', 'pods:write', (call) => act(call, 'restart')),
  v1Route('POST', '/pods/:id/reset', 'pods:write', async (call) => show(call, (await resetPod(call.ctx, call.id)).pod)),
]

async function list(call: Call): Promise<Response> {
  const catalog = await loadCatalog(call.ctx.env)
  const pods = await readPages(async (cursor) => {
    const page = await listPods(call.ctx, { limit: 1000, includeClusterPods: false, ...(cursor !== undefined && { cursor }) })
    return { items: page.pods, next: page.pagination.nextCursor }
  })
  const wanted = await mapInPieces(pods, AT_ONCE, (pod) => (isWanted(call.query, pod, v1Pod(pod, catalog)) ? [pod] : []))
  const shown = await withIncludes(call, wanted.flat())
  return answerInPieces(call.c, shown)
}

async function create(call: V1Call<V1CreatePod>): Promise<Response> {
  const candidates = podCandidates(call.body, await loadCatalog(call.ctx.env))
  const bodies = mapped(candidates.ok ? { ok: true, body: candidates.bodies } : candidates).map((body) => asV2(CreatePodRequest, body))
  const { pod } = await createFirstFit(call.ctx, bodies, call.body, call.key)
  if (!call.body.locked) return show(call, pod, 201)
  return show(call, (await updatePod(call.ctx, pod.id, { locked: true }, undefined)).pod, 201)
}

async function update(call: V1Call<FlatPodPatch>): Promise<Response> {
  const mounts = needsMounts(call.body) ? (await getPod(call.ctx, call.id)).pod.mounts : {}
  const body = asV2(UpdatePodRequest, podPatch(call.body, mounts))
  return show(call, (await updatePod(call.ctx, call.id, body, undefined)).pod)
}

async function act(call: Call, action: 'start' | 'stop' | 'restart'): Promise<Response> {
  const acted = await actOnPod(call.ctx, call.id, action, undefined)
  return acted ? show(call, acted.pod) : call.c.body(null, 204)
}

async function show(call: Call, pod: Pod, status: 200 | 201 = 200): Promise<Response> {
  const [shown] = await withIncludes(call, [pod])
  return call.c.json(shown, status)
}

async function withIncludes({ ctx, query }: Call, pods: readonly Pod[]) {
  const catalog = await loadCatalog(ctx.env)
  const volumeOf = isAsked(query, 'includeNetworkVolume') ? await includeVolumes(ctx) : null
  const templateOf = isAsked(query, 'includeTemplate')
    ? await includeTemplates(
        ctx,
        pods.map(({ template }) => template),
      )
    : null
  return mapInPieces(pods, AT_ONCE, (pod) => {
    const shown = v1Pod(pod, catalog)
    return {
      ...shown,
      machine: isAsked(query, 'includeMachine') ? v1Machine(pod, catalog) : {},
      ...(volumeOf && { networkVolume: volumeOf(shown.networkVolumeId) }),
      ...(templateOf && { template: templateOf(pod.template) }),
    }
  })
}
