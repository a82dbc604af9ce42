import type { Podplane } from '@podplane/sdk'

/** What the plane has charged. */
export async function bills(plane: Podplane) {
  const query = { bucketSize: 'hour', lastN: 2 } as const
  const all = await plane.listBilling({ query: { ...query, include: 'INTERVALS' } })
  const parts = await Promise.all([
    plane.listPodBilling({ query }),
    plane.listServerlessBilling({ query }),
    plane.listEndpointBilling({ query }),
    plane.listNetworkVolumeBilling({ query }),
    plane.listClusterBilling({ query }),
  ])
  return [all.metadata.query.bucketSize, parts.every(({ records, metadata }) => records.length === metadata.recordCount)]
}
