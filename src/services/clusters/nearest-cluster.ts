import type { CreateClusterRequest } from '../../contract/clusters/clusters.ts'
import type { WhyOption } from '../../contract/explain-options.ts'
import type { Gang } from '../../domain/cluster/gang.ts'
import { clusterOptions } from '../../domain/explain/cluster-options.ts'
import { refuseMeans } from '../../domain/explain/means.ts'
import { type Advice, ownOption } from '../../domain/explain/option.ts'
import { loadCatalog } from '../../effects/catalog.ts'
import { soundOptions } from '../../effects/explain/answer.ts'
import { readMeans } from '../../effects/explain/means.ts'
import { readSettings } from '../../env.ts'
import type { VerbContext } from '../context.ts'
import type { RefusedPod } from '../pods/nearest-pod.ts'

/** A create whose members do not fit together. */
interface Refused extends Omit<RefusedPod, 'body'> {
  body: CreateClusterRequest
  gang: Extract<Gang, { ok: false }>
}

/** Returns the smallest changes of a create that would succeed at present (WHY-12), each as a complete body. */
export async function nearestClusters({ env, principal, nowMs }: VerbContext, refused: Refused): Promise<WhyOption[]> {
  const { body, references, hosts, nanosPerHour, gang } = refused
  const { teamId } = principal
  const [catalog, means] = await Promise.all([loadCatalog(env), readMeans(env, teamId, nowMs)])
  const strategy = readSettings(env).placementStrategy
  const found = clusterOptions({ teamId, catalog, hosts, references, strategy, nowMs }, body, gang)
  const advice = found.map(({ asked, hostIds, ...one }): Advice => {
    const { podCount, gpuCountPerPod } = asked.compute
    const option = ownOption(one, nanosPerHour, { method: 'POST', path: '/v2/clusters', body: asked })
    return { option, hostIds, needs: { nanosPerHour: one.nanosPerHour, gpus: podCount * gpuCountPerPod, pods: podCount } }
  })
  return soundOptions(
    env,
    advice.filter(({ needs }) => refuseMeans(means, needs) === null),
  )
}
