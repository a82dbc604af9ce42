import type { PodPlan } from '../../domain/pod/request/request.ts'
import type { PodDraft } from '../../effects/pods/place-pod.ts'
import type { VerbContext } from '../context.ts'

/** A new pod out of its plan, but for what placement decides. `own`: what is this pod's alone. */
export function draftPodOf(
  { principal, nowMs }: VerbContext,
  own: Pick<PodDraft, 'id' | 'sshSuffix' | 'name'>,
  { spec, templateId, pricePerHour, diskRates, deadlines }: PodPlan,
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
  }
}
