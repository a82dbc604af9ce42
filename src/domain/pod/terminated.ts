import type { PodSpec } from './record.ts'

/** Specification of a terminated pod (POD-76): the resources that it used, without its container's settings. Pure. */
export function terminatedSpec({ container, compute, cloud, onHostLoss, formerHosts }: PodSpec): PodSpec {
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

/** Maximum number of previous hosts that a pod records. */
const MAX_PREVIOUS_HOSTS = 8

/** Specification of a pod that leaves its host, with the host added to its previous hosts. */
export function specLeaving<Spec extends Pick<PodSpec, 'formerHosts'>>(spec: Spec, hostId: string): Spec {
  return { ...spec, formerHosts: [hostId, ...(spec.formerHosts ?? [])].slice(0, MAX_PREVIOUS_HOSTS) }
}
