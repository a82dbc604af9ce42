import type { ClusterPlacementPreview, CreateClusterRequest } from '../../../contract/clusters/clusters.ts'
import { useDebounced } from '../../hooks/debounced.ts'
import { type FieldErrors, fieldErrors } from '../../hooks/field-errors.ts'
import { type Live, useLive } from '../../hooks/live.ts'
import { Nearest } from '../../parts/explain/nearest.tsx'
import { Foretold, InTheWay } from '../../parts/explain/preview.tsx'
import { perHour } from '../../parts/format.ts'
import { type ClusterText, clusterBody, missingOfCluster } from './cluster-form.ts'

const EVERY_MS = 10_000

/** Current placement of all members: a dry run of the create request, sent after the user stops typing and refreshed every `EVERY_MS`. */
export function useClusterPreview(text: ClusterText): { answer: Live<ClusterPlacementPreview>; errors: FieldErrors } {
  const body = useDebounced(JSON.stringify({ ...clusterBody(text), name: text.name || 'cluster' }))
  const answer = useLive(
    ['cluster-preview', body],
    async (api, signal) => (await api.request('POST', '/v2/clusters?dryRun=true', JSON.parse(body), { signal })) as ClusterPlacementPreview,
    { everyMs: EVERY_MS, isEnabled: missingOfCluster(text) === undefined },
  )
  return { answer, errors: fieldErrors(answer.error) }
}

interface ClusterPreviewProps {
  answer: Live<ClusterPlacementPreview>
  missing: string | undefined
  onTake: (body: CreateClusterRequest) => void
}

/** Outcome of creating the cluster, or the options that would fit instead. */
export function ClusterPreview({ answer, missing, onTake }: ClusterPreviewProps) {
  return (
    <Foretold answer={answer} missing={missing}>
      {(of) => <Answer of={of} onTake={onTake} />}
    </Foretold>
  )
}

function Answer({ of, onTake }: { of: ClusterPlacementPreview; onTake: ClusterPreviewProps['onTake'] }) {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-lg font-semibold tabular-nums">{perHour(of.cost)}</p>
      {of.fits ? (
        <p className="text-good">All members fit now in {of.dataCenterId}.</p>
      ) : (
        <>
          <InTheWay title="There is no room for all members now." lines={of.missing} />
          {/* Each option of a dry run is a complete create request. */}
          <Nearest options={of.options} onTake={(body) => onTake(body as CreateClusterRequest)} />
        </>
      )}
    </div>
  )
}
