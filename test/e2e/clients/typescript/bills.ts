import type { Podplane } from '@podplane/sdk'

/** The charges of the plane. */
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

/** The monthly spend limit: its change, its value, and its restored value. */
export async function spend(plane: Podplane) {
  const before = await plane.getSpendLimits()
  const changed = await plane.updateSpendLimits({ body: { perMonth: 100 } })
  const { limits } = await plane.getBillingSummary()
  const now = await plane.getSpend()
  const after = await plane.updateSpendLimits({ body: { perMonth: null } })
  return [
    'perMonth' in changed && changed.perMonth,
    limits.perMonth,
    'perMonth' in after && after.perMonth === before.perMonth,
    now.itemCount === now.items.length,
  ]
}

/** The result of a spend stop of unknown ids: the number of its items, whether it is listed, and whether it is undone. */
export async function stops(plane: Podplane) {
  const stop = await plane.stopSpend({ body: { ids: ['nothing'] } })
  if (!('items' in stop)) throw new Error('a plan instead of a stop')
  const { stops: listed } = await plane.listSpendStops()
  const undone = await plane.undoSpendStop({ path: { id: stop.id } })
  return [stop.items.length, listed.some(({ id }) => id === stop.id), undone.undoneAt !== null]
}
