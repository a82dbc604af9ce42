import type { CreateEndpointRequest } from '../../contract/endpoints/endpoints.ts'
import type { EndpointPlacementPreview } from '../../contract/endpoints/placement-preview.ts'
import type { WhyOption } from '../../contract/explain-options.ts'
import { configBytes } from '../../db/endpoints/endpoints.ts'
import { workerRates } from '../../domain/billing/worker-rates.ts'
import { changedCreate } from '../../domain/explain/create-endpoint.ts'
import { cheapestWorker, endpointOptions, endpointProbe } from '../../domain/explain/endpoint-options.ts'
import { holderAdvice } from '../../domain/explain/holders.ts'
import { refuseMeans } from '../../domain/explain/means.ts'
import { type Advice, ownOption } from '../../domain/explain/option.ts'
import { rankHosts } from '../../domain/host/placement.ts'
import { totalNanos, usdOfNanos } from '../../domain/money.ts'
import { placementRequestOf } from '../../domain/worker/shape.ts'
import { soundOptions } from '../../effects/explain/answer.ts'
import { type EndpointKnown, meansBlock, missingFacts, readWorkerInputs } from '../../effects/explain/endpoint.ts'
import { requireBudget } from '../budgets.ts'
import type { VerbContext } from '../context.ts'
import { requireScope } from '../require-scope.ts'
import { requireRegistry, requireRegistryScope } from '../resources/registries.ts'
import { requireTemplateScope } from '../resources/templates.ts'
import { draftEndpoint } from './endpoints.ts'

/**
 * Returns where a worker of a new endpoint would be placed at present and its cost, or what is missing; writes nothing (DRY-18). Throws the
 * errors of the create.
 */
export async function previewEndpoint(ctx: VerbContext, body: CreateEndpointRequest): Promise<EndpointPlacementPreview> {
  requireScope(ctx.principal, 'serverless:write')
  requireRegistryScope(ctx, body.registry)
  await requireTemplateScope(ctx, body.templateId)
  const config = await draftEndpoint(ctx, body, requireRegistry)
  await requireBudget(ctx.env, config.teamId, { endpoints: 1, storedBytes: configBytes(config) })
  const known = await readWorkerInputs(ctx.env, config, ctx.nowMs)
  const { catalog, hosts } = known.world
  const request = placementRequestOf(catalog, config)
  const [best] = rankHosts(request, hosts).candidates
  const block = meansBlock(known)
  const nanos = best ? totalNanos(workerRates(catalog, best.shape, request.diskGb)) : (cheapestWorker(known.world) ?? 0)
  const cost = usdOfNanos(nanos)
  return {
    fits: best !== undefined && block === null,
    dataCenterId: best?.dataCenterId ?? null,
    cost,
    costAtLeast: cost * config.workers.min,
    costAtMost: cost * config.workers.max,
    missing: block ? [block.text] : best ? [] : missingFacts(known).map(({ text }) => text),
    options: block || best ? [] : await nearest(ctx, known, body, nanos),
  }
}

/**
 * Returns the smallest changes of the create with which a worker would start at present, each as a complete body, and pods whose stop would
 * free enough capacity.
 */
async function nearest({ env }: VerbContext, known: EndpointKnown, body: CreateEndpointRequest, askedNanos: number): Promise<WhyOption[]> {
  const { world, means, holders } = known
  const { compute } = world.config
  const gpus = compute.kind === 'gpu' ? compute.count : 0
  const changes = endpointOptions(world).flatMap((found): Advice[] => {
    const changed = changedCreate(body, found.asked)
    if (changed === null) return []
    const option = ownOption(found, askedNanos, { method: 'POST', path: '/v2/serverless', body: changed })
    return [{ option, hostIds: found.hostIds, needs: { nanosPerHour: found.nanosPerHour, gpus: found.asked.gpu?.count ?? gpus, pods: 0 } }]
  })
  const asked = { nanosPerHour: askedNanos, gpus, pods: 0 }
  const stops = holderAdvice(holders, world.hosts, (host) => endpointProbe({ ...world, hosts: [host] })({}), asked)
  return soundOptions(
    env,
    [...changes, ...stops].filter(({ needs }) => refuseMeans(means, needs) === null),
  )
}
