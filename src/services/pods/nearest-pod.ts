import type { WhyOption } from '../../contract/explain-options.ts'
import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import { holderAdvice } from '../../domain/explain/holders.ts'
import { refuseMeans } from '../../domain/explain/means.ts'
import { type Advice, ownOption } from '../../domain/explain/option.ts'
import { podOptions, podProbe } from '../../domain/explain/pod-options.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import type { PodReferences } from '../../domain/pod/request/request.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { soundOptions } from '../../effects/explain/answer.ts'
import { readHolders } from '../../effects/explain/holders.ts'
import { readMeans } from '../../effects/explain/means.ts'
import { readSettings } from '../../env.ts'
import type { VerbContext } from '../context.ts'

/** A create that fits on no host. */
export interface RefusedPod {
  body: CreatePodRequest
  references: PodReferences
  hosts: readonly PlacementHost[]
  nanosPerHour: number
}

/** Returns the smallest changes of a create that would succeed at present (WHY-12), each as a complete body. */
export async function nearestPods({ env, principal, nowMs }: VerbContext, refused: RefusedPod): Promise<WhyOption[]> {
  const { body, references, hosts, nanosPerHour } = refused
  const { teamId } = principal
  const [catalog, means, holders] = await Promise.all([loadCatalog(env), readMeans(env, teamId, nowMs), readHolders(env, teamId, nowMs)])
  const world = { teamId, catalog, hosts, references, strategy: readSettings(env).placementStrategy, nowMs }
  const found = podOptions(world, body)
  const advice = found.map(({ asked, hostIds, ...one }): Advice => {
    const option = ownOption(one, nanosPerHour, { method: 'POST', path: '/v2/pods', body: asked })
    return { option, hostIds, needs: { nanosPerHour: one.nanosPerHour, gpus: asked.gpu ? (asked.gpu.count ?? 1) : 0, pods: 1 } }
  })
  const asked = { nanosPerHour, gpus: body.gpu ? (body.gpu.count ?? 1) : 0, pods: 1 }
  return soundOptions(
    env,
    [...advice, ...holderAdvice(holders, hosts, (host) => podProbe({ ...world, hosts: [host] })(body), asked)].filter(
      ({ needs }) => refuseMeans(means, needs) === null,
    ),
  )
}
