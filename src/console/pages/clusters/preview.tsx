import type { ClusterPlacementPreview } from '../../../contract/clusters/clusters.ts'
import { type Live, useLive } from '../../app/live.ts'
import { useSettled } from '../../app/settled.ts'
import { ErrorFace, Loading } from '../../parts/faces.tsx'
import { type FieldErrors, fieldErrors } from '../../parts/form/field-errors.ts'
import { perHour } from '../../parts/format.ts'
import { Panel } from '../../parts/page.tsx'
import { type ClusterText, clusterBody, missingOfCluster } from './cluster-form.ts'

const EVERY_MS = 10_000

/** Where all members would go now: the create's own dry run, asked when one stops typing. */
export function useClusterPreview(text: ClusterText): { answer: Live<ClusterPlacementPreview>; errors: FieldErrors } {
  const body = useSettled(JSON.stringify({ ...clusterBody(text), name: text.name || 'cluster' }))
  const answer = useLive(
    ['cluster-preview', body],
    async (api, signal) => (await api.request('POST', '/v2/clusters?dryRun=true', JSON.parse(body), { signal })) as ClusterPlacementPreview,
    { everyMs: EVERY_MS, isEnabled: missingOfCluster(text) === undefined },
  )
  return { answer, errors: fieldErrors(answer.error) }
}

/** What pressing the button would do. */
export function ClusterPreview({ answer, missing }: { answer: Live<ClusterPlacementPreview>; missing: string | undefined }) {
  return (
    <Panel title="What would happen">
      <div aria-live="polite">{missing === undefined ? <Answer answer={answer} /> : <p className="text-soft">{missing}</p>}</div>
    </Panel>
  )
}

function Answer({ answer: { data, error, refetch } }: { answer: Live<ClusterPlacementPreview> }) {
  if (error !== null) return <ErrorFace error={error} retry={refetch} />
  if (data === undefined) return <Loading what="Asking what fits" />
  return (
    <div className="flex flex-col gap-2">
      <p className="text-lg font-semibold tabular-nums">{perHour(data.cost)}</p>
      {data.fits ? (
        <p className="text-good">All members fit now in {data.dataCenterId}.</p>
      ) : (
        <>
          <p className="text-bad">There is no room for all members now.</p>
          <ul className="list-disc pl-5">
            {data.missing.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
