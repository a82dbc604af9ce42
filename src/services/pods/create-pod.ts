import { POD_DEFAULTS } from '../../contract/defaults.ts'
import type { CreatePodRequest, PodPlacementPreview } from '../../contract/pods/pods.ts'
import { Problem, problemOf } from '../../contract/problems.ts'
import { openDatabase, openRecords } from '../../db/client.ts'
import { findPod } from '../../db/pods/find-pods.ts'
import { requireOwnName, requireReferences } from '../../db/pods/pod-references.ts'
import { type PodRow, specBytes } from '../../db/pods/pods.ts'
import { hasScope } from '../../domain/access.ts'
import { describeConstraint } from '../../domain/host/constraint-text.ts'
import type { UnfitHost } from '../../domain/host/placement.ts'
import { shownPrice } from '../../domain/pod/access.ts'
import { refuseCapacity } from '../../domain/pod/place/refusal.ts'
import { runningNanos } from '../../domain/pod/rates.ts'
import { envOf } from '../../domain/pod/request/container.ts'
import { type PodPlan, type PodReferences, planPod, refuseCreate } from '../../domain/pod/request/request.ts'
import { etagOf } from '../../domain/text/etag.ts'
import { contentsOf } from '../../effects/audit.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { opaqueHostId } from '../../effects/explain-placement.ts'
import { type PodDraft, type PodPlacement, placePod, rankPod } from '../../effects/pods/place-pod.ts'
import { readSettings } from '../../env.ts'
import { newJupyterPassword, newResourceId, newSshSuffix } from '../../platform/ids.ts'
import { noteChange } from '../audit.ts'
import { requireSpend } from '../billing/spend.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { onceForKey, type StoreAnswer } from '../idempotency.ts'
import { refuseLimit } from '../refuse-limit.ts'
import { replayEnv } from '../replayed-env.ts'
import { requireScope } from '../require-scope.ts'
import { claimRegistry, requireRegistry, requireRegistryScope } from '../resources/registries.ts'
import { granted } from '../resources/secret-grants.ts'
import { requireTemplateScope } from '../resources/templates.ts'
import { draftPodOf } from './draft-pod.ts'
import { withGlobalAddress } from './global-address.ts'
import { nearestPods } from './nearest-pod.ts'
import { loadReferences, REFERENCE_NAMES } from './pod-references.ts'
import { computeView, toPod } from './pod-view.ts'
import type { TaggedPod } from './pods.ts'

const OPERATION = 'createPod'
/** Maximum number of hosts in a dry run. */
const MAX_HOSTS_SHOWN = 100

/** Options of a create that only older APIs use. */
export interface CreateOptions {
  /** No other live pod of the account may have its name (GQL-19). */
  hasOwnName?: boolean
  isInterruptible?: boolean
}

/**
 * Creates a pod on the best host that has room (POD-2 to POD-11, POD-20, POD-22). Throws 400 (also when no host has room), 403, 404
 * (template), 409 (its key is in use), 413 (with its template) and 422. `asked`: the client's request, when it differs from `body`.
 */
export async function createPod(
  ctx: VerbContext,
  body: CreatePodRequest,
  idempotencyKey: string | undefined,
  asked: unknown = body,
  options: CreateOptions = {},
): Promise<TaggedPod> {
  requireScope(ctx.principal, 'pods:write')
  requireRegistryScope(ctx, body.registry)
  await requireTemplateScope(ctx, body.templateId)
  return onceForKey<TaggedPod>(ctx, OPERATION, idempotencyKey, asked, (store) => place(ctx, body, options, store), replayOf(ctx, body))
}

function replayOf({ env, principal }: VerbContext, body: CreatePodRequest) {
  const put = ({ pod, etag }: TaggedPod, variables: Record<string, string>) => ({ pod: { ...pod, env: variables }, etag })
  return replayEnv<TaggedPod>(body.env, put, async ({ pod: { id } }) => {
    const row = hasScope(principal.scopes, 'pods:read') ? await findPod(openRecords(env), principal.teamId, id) : null
    return row && envOf(row.spec)
  })
}

/**
 * Returns where the pod of a body would be placed at present, or what each host lacks; writes nothing (POD-37). Throws the errors of the
 * create.
 */
export async function previewPod(ctx: VerbContext, body: CreatePodRequest): Promise<PodPlacementPreview> {
  requireScope(ctx.principal, 'pods:write')
  const { plan, references } = await planOrThrow(ctx, body)
  const { spec, pricePerHour, diskRates } = plan
  const nanosPerHour = runningNanos({ pricePerHour, ...diskRates })
  await requireSpend(ctx, nanosPerHour)
  const { candidates, refusals, hosts: checked } = await rankPod(ctx.env, ctx.principal.teamId, spec)
  const [best] = candidates
  const fitting: UnfitHost[] = candidates.map(({ hostId }) => ({ hostId, failed: [] }))
  const nearest = refusals.toSorted((a, b) => a.failed.length - b.failed.length || (a.hostId < b.hostId ? -1 : 1))
  const opaque = (hostId: string) => opaqueHostId(ctx.env, ctx.principal.teamId, hostId)
  const hosts = [...fitting, ...nearest].slice(0, MAX_HOSTS_SHOWN)
  return {
    fits: best !== undefined,
    hostId: best ? await opaque(best.hostId) : null,
    dataCenterId: best?.dataCenterId ?? null,
    ...(best && computeView({ spec, vcpus: best.shape.vcpus, memoryMb: best.shape.memoryMb })),
    cost: shownPrice(pricePerHour),
    // Bounded: hashes of `MAX_HOSTS_SHOWN` names, without calls.
    hosts: await Promise.all(
      hosts.map(async ({ hostId, failed }) => ({ hostId: await opaque(hostId), failed: failed.map(describeConstraint) })),
    ),
    options: best ? [] : await nearestPods(ctx, { body, references, hosts: checked, nanosPerHour }),
  }
}

async function place(ctx: VerbContext, body: CreatePodRequest, options: CreateOptions, store: StoreAnswer<TaggedPod>): Promise<TaggedPod> {
  const plan = withOptions((await planOrThrow(ctx, body)).plan, options)
  await claimRegistry(ctx, plan.spec.container)
  const draft = draftPodOf(ctx, { id: newResourceId(), sshSuffix: newSshSuffix(), name: body.name }, plan)
  // ERR-6: this check comes before placement.
  await requireSpend(ctx, runningNanos(draft))
  const settings = readSettings(ctx.env)
  const answerOf = (pod: Parameters<typeof toPod>[0]) => ({ pod: toPod(pod, settings, ctx.nowMs), etag: etagOf(pod.version) })
  const db = openDatabase(ctx.env.DB)
  const together = (pod: PodRow) => [
    noteCreate(ctx, pod),
    ...store(answerOf(pod)),
    ...requireReferences(db, pod),
    ...(options.hasOwnName ? [requireOwnName(db, pod)] : []),
  ]
  const placed = await withGlobalAddress(ctx, draft, (addressed) => placePod(ctx.env, addressed, together))
  return placed.ok ? answerOf(placed.pod) : refuse(ctx, body, draft, placed)
}

/** Throws the error of a pod that was not stored, by the reason that its batch gave. */
async function refuse(
  ctx: VerbContext,
  body: CreatePodRequest,
  draft: PodDraft,
  { reason, refusals, missingVolumes }: Extract<PodPlacement, { ok: false }>,
): Promise<never> {
  switch (reason) {
    case null:
      throw problemOf(refuseCapacity(refusals, missingVolumes))
    case 'name':
      throw new Problem('conflict', { detail: `the account already has a pod ${body.name}; choose another name` })
    case 'networkVolume':
    case 'globalVolume':
    case 'registry':
      // It was deleted meanwhile; this second plan refuses it with the field that names it.
      await planOrThrow(ctx, body)
      throw new Problem('conflict', { detail: `the ${REFERENCE_NAMES[reason]} that the pod refers to is being changed; retry` })
    default:
      return refuseLimit(ctx, reason, { ...budgetOf(body), specBytesPerHost: specBytes(draft), nanosPerHour: runningNanos(draft) })
  }
}

function withOptions(plan: PodPlan, { isInterruptible }: CreateOptions): PodPlan {
  return isInterruptible ? { ...plan, spec: { ...plan.spec, interruptible: true } } : plan
}

function noteCreate(ctx: VerbContext, pod: PodRow) {
  const contents = contentsOf(ctx.env, 'pod', pod.id, null, pod)
  return noteChange(ctx, { action: 'pods.create', resourceKind: 'pod', resourceId: pod.id, ...contents })
}

async function planOrThrow(ctx: VerbContext, body: CreatePodRequest): Promise<{ plan: PodPlan; references: PodReferences }> {
  const { env, principal } = ctx
  requireRegistryScope(ctx, body.registry)
  const problem = refuseCreate(body)
  if (problem) throw problemOf(problem)
  const [references, catalog] = await Promise.all([
    loadReferences(env, principal, body),
    loadCatalog(env),
    requireBudget(env, principal.teamId, budgetOf(body)),
  ])
  const result = planPod(catalog, body, references, newJupyterPassword(), ctx.nowMs)
  if (!result.ok) throw problemOf(result.problem)
  const { spec } = result.plan
  const plan = { ...result.plan, spec: { ...spec, container: granted(principal, spec.container) } }
  await requireRegistry(ctx, plan.spec.container)
  return { plan, references }
}

// Requires a stopped pod as well, although the new pod is not stopped: with that budget used up, it could never be stopped (BUDGET-5).
function budgetOf(body: CreatePodRequest) {
  return { pods: 1, stoppedPods: 1, ...(body.gpu && { gpus: body.gpu.count ?? POD_DEFAULTS.gpuCount }) }
}
