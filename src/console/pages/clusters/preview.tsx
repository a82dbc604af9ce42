import type { ClusterPlacementPreview, CreateClusterRequest } from '../../../contract/clusters/clusters.ts'
import type { Live } from '../../hooks/live.ts'
import { Foretold, InTheWay, type PreviewProps, Price, useDryRun } from '../../parts/explain/preview.tsx'
import { perHour } from '../../parts/format.ts'
import { type ClusterText, clusterBody, missingOfCluster } from './cluster-form.ts'

/** Current placement of all members. */
export function useClusterPreview(text: ClusterText): Live<ClusterPlacementPreview> {
  const asked = { ...clusterBody(text), name: text.name || 'cluster' }
  const isComplete = missingOfCluster(text) === undefined
  return useDryRun('cluster-preview', asked, isComplete, (api, body, signal) => api.previewCluster({ body }, { signal }))
}

/** Outcome of creating the cluster, or the options that would fit instead. */
export function ClusterPreview(props: PreviewProps<ClusterPlacementPreview, CreateClusterRequest>) {
  return (
    <Foretold
      {...props}
      price={({ cost }) => <Price text={perHour(cost)} />}
      fitText={({ dataCenterId }) => `All members fit now in ${dataCenterId}.`}
      obstacles={({ missing }) => <InTheWay title="No capacity is free for all members now." lines={missing} />}
    />
  )
}
