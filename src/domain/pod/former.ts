import type { PodSpec } from './record.ts'

/** What a specification says of a pod that is terminated (PP-234): what it used, and nothing of what it ran. Pure. */
export function formerSpec({ container, compute, cloud, onHostLoss, formerHosts }: PodSpec): PodSpec {
  return {
    container: { image: '', args: '', diskGb: container.diskGb, env: {}, ports: [], registry: null },
    compute,
    cloud,
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss,
    ...(formerHosts && { formerHosts }),
  }
}

/** Of how many hosts a pod knows that it was there. */
const MAX_FORMER_HOSTS = 8

/** The specification of a pod that leaves its host. */
export function specLeaving<Spec extends Pick<PodSpec, 'formerHosts'>>(spec: Spec, hostId: string): Spec {
  return { ...spec, formerHosts: [hostId, ...(spec.formerHosts ?? [])].slice(0, MAX_FORMER_HOSTS) }
}
