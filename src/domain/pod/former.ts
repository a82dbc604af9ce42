import type { PodSpec } from './record.ts'

/** What a specification says of a pod that is terminated (PP-234): what it used, and nothing of what it ran. Pure. */
export function formerSpec({ container, compute, cloud, onHostLoss }: PodSpec): PodSpec {
  return {
    container: { image: '', args: '', diskGb: container.diskGb, env: {}, ports: [], registry: null },
    compute,
    cloud,
    dataCenterIds: [],
    mounts: {},
    globalNetworking: false,
    onHostLoss,
  }
}
