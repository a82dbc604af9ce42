import type { CreateEndpointRequest } from '../../../../contract/endpoints/endpoints.ts'
import type { EndpointPlacementPreview } from '../../../../contract/endpoints/placement-preview.ts'
import { useDebounced } from '../../../hooks/debounced.ts'
import { type Live, useLive } from '../../../hooks/live.ts'
import { Nearest } from '../../../parts/explain/nearest.tsx'
import { Foretold, InTheWay } from '../../../parts/explain/preview.tsx'
import { perHour } from '../../../parts/format.ts'

/** Free capacity changes while the user reads. */
const EVERY_MS = 10_000

/** Current placement of a worker: a dry run of the create request, sent after the user stops typing (DRY-18). */
export function useEndpointPreview(body: CreateEndpointRequest, isComplete: boolean): Live<EndpointPlacementPreview> {
  // The name does not affect placement, so a change of it sends no new dry run.
  const text = useDebounced(JSON.stringify({ ...body, name: 'endpoint' }))
  return useLive(
    ['endpoint-preview', text],
    async (api, signal) =>
      (await api.request('POST', '/v2/serverless?dryRun=true', JSON.parse(text), { signal })) as EndpointPlacementPreview,
    { everyMs: EVERY_MS, isEnabled: isComplete },
  )
}

interface EndpointPreviewProps {
  answer: Live<EndpointPlacementPreview>
  /** Reason why no preview can be requested yet. */
  missing: string | undefined
  onTake: (body: CreateEndpointRequest) => void
}

/** Outcome for the first job: a worker with its price, or the obstacles and the options that would fit instead. */
export function EndpointPreview({ answer, missing, onTake }: EndpointPreviewProps) {
  return (
    <Foretold answer={answer} missing={missing}>
      {(of) => <Answer of={of} onTake={onTake} />}
    </Foretold>
  )
}

function Answer({ of, onTake }: { of: EndpointPlacementPreview; onTake: EndpointPreviewProps['onTake'] }) {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-lg font-semibold tabular-nums">{perHour(of.cost)} per worker</p>
      <p className="text-soft tabular-nums">
        {perHour(of.costAtLeast)} without jobs, {perHour(of.costAtMost)} at most.
      </p>
      {of.fits ? (
        <p className="text-good">A worker fits now{of.dataCenterId === null ? '' : ` in ${of.dataCenterId}`}.</p>
      ) : (
        <>
          <InTheWay title="No worker would start now. You can create the endpoint, but its jobs would wait." lines={of.missing} />
          {/* Each option of a dry run is a complete create request. */}
          <Nearest options={of.options} onTake={(body) => onTake(body as CreateEndpointRequest)} />
        </>
      )}
    </div>
  )
}
