import type { CreatePodRequest, PodPlacementPreview } from '../../../../contract/pods/pods.ts'
import { useDebounced } from '../../../hooks/debounced.ts'
import { type FieldErrors, fieldErrors } from '../../../hooks/field-errors.ts'
import { type Live, useLive } from '../../../hooks/live.ts'
import { Nearest } from '../../../parts/explain/nearest.tsx'
import { Foretold } from '../../../parts/explain/preview.tsx'
import { perHour } from '../../../parts/format.ts'
import { Misfit } from './misfit.tsx'
import { askedBody, missingOf, type PodText } from './pod-form.ts'

/** Free capacity changes while the user reads. */
const EVERY_MS = 10_000

interface Preview {
  answer: Live<PodPlacementPreview>
  errors: FieldErrors
}

/** Current placement of the pod: a dry run of the create request, sent after the user stops typing (POD-21). */
export function usePodPreview(text: PodText): Preview {
  const body = useDebounced(JSON.stringify(askedBody(text)))
  const answer = useLive(
    ['pod-preview', body],
    async (api, signal) => (await api.request('POST', '/v2/pods?dryRun=true', JSON.parse(body), { signal })) as PodPlacementPreview,
    { everyMs: EVERY_MS, isEnabled: missingOf(text) === undefined },
  )
  return { answer, errors: fieldErrors(answer.error) }
}

interface PreviewPanelProps {
  preview: Preview
  /** Reason why no preview can be requested yet. */
  missing: string | undefined
  onTake: (body: CreatePodRequest) => void
}

/** Outcome of creating the pod: placement and cost, or the obstacles and the options that would fit instead. */
export function PreviewPanel({ preview: { answer }, missing, onTake }: PreviewPanelProps) {
  return (
    <Foretold answer={answer} missing={missing}>
      {(of) => <Answer of={of} onTake={onTake} />}
    </Foretold>
  )
}

function Answer({ of, onTake }: { of: PodPlacementPreview; onTake: PreviewPanelProps['onTake'] }) {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-lg font-semibold tabular-nums">{perHour(of.cost)}</p>
      {of.fits ? (
        <p className="text-good">Fits now{of.dataCenterId === null ? '' : ` in ${of.dataCenterId}`}.</p>
      ) : (
        <>
          <Misfit hosts={of.hosts} />
          {/* Each option of a dry run is a complete create request. */}
          <Nearest options={of.options} onTake={(body) => onTake(body as CreatePodRequest)} />
        </>
      )}
    </div>
  )
}
