import type { PodPlan } from '../../domain/pod/request/request.ts'
import type { PodDraft } from '../../effects/pods/place-pod.ts'
import type { VerbContext } from '../context.ts'

/** Returns a new pod from its plan, without the parts that placement decides. `own`: the fields of this pod only. */
export function draftPodOf(
  { principal, nowMs }: VerbContext,
  own: Pick<PodDraft, 'id' | 'sshSuffix' | 'name'>,
  { spec, templateId, pricePerHour, diskRates, deadlines, labels }: PodPlan,
): PodDraft {
  return {
    ...own,
    teamId: principal.teamId,
    status: 'PROVISIONING',
    version: 1,
    generation: 1,
    spec,
    keepsDisk: false,
    diskStale: false,
    hostLost: false,
    statusReason: null,
    locked: false,
    ports: [],
    pricePerHour,
    templateId,
    networkVolumeId: spec.mounts.network?.volumeId ?? null,
    globalVolumeId: spec.mounts.global?.volumeId ?? null,
    registryId: spec.container.registry,
    clusterId: null,
    clusterRank: null,
    clusterIp: null,
    readyGeneration: null,
    triedHosts: null,
    globalIp: null,
    startedAtMs: null,
    chargedFromMs: null,
    changedAtMs: nowMs,
    createdAtMs: nowMs,
    ...deadlines,
    ...diskRates,
    diskChargedFromMs: null,
    labels,
  }
}
