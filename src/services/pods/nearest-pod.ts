import type { CreatePodRequest } from '../../contract/pods/pods.ts'
import type { WhyOption } from '../../contract/why/options.ts'
import type { PlacementHost } from '../../domain/host/placement.ts'
import type { PodReferences } from '../../domain/pod/request.ts'
import { refuseMeans } from '../../domain/why/means.ts'
import { type Advice, ownOption } from '../../domain/why/option.ts'
import { podOptions } from '../../domain/why/pod-options.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { soundOptions } from '../../effects/why/answer.ts'
import { readMeans } from '../../effects/why/means.ts'
import { readSettings } from '../../env.ts'
import type { VerbContext } from '../context.ts'

/** A create that finds no place. */
interface Refused {
  body: CreatePodRequest
  references: PodReferences
  hosts: readonly PlacementHost[]
  nanosPerHour: number
}

/** The smallest changes of a create with which it would be made now (WHY-12): each is the whole body to send. */
export async function nearestPods({ env, principal, nowMs }: VerbContext, refused: Refused): Promise<WhyOption[]> {
  const { body, references, hosts, nanosPerHour } = refused
  const { teamId } = principal
  const [catalog, means] = await Promise.all([loadCatalog(env), readMeans(env, teamId, nowMs)])
  const strategy = readSettings(env).placementStrategy
  const found = podOptions({ teamId, catalog, hosts, references, strategy, nowMs }, body)
  const advice = found.map(({ asked, hostIds, ...one }): Advice => {
    const option = ownOption(one, nanosPerHour, { method: 'POST', path: '/v2/pods', body: asked })
    return { option, hostIds, needs: { nanosPerHour: one.nanosPerHour, gpus: asked.gpu ? (asked.gpu.count ?? 1) : 0, pods: 1 } }
  })
  return soundOptions(
    env,
    advice.filter(({ needs }) => refuseMeans(means, needs) === null),
  )
}
