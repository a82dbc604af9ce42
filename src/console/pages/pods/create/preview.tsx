import type { CreatePodRequest, PodPlacementPreview } from '../../../../contract/pods/pods.ts'
import { type Live, useLive } from '../../../app/live.ts'
import { useSettled } from '../../../app/settled.ts'
import { type FieldErrors, fieldErrors } from '../../../parts/form/field-errors.ts'
import { perHour } from '../../../parts/format.ts'
import { Foretold } from '../../../parts/why/foretold.tsx'
import { Nearest } from '../../../parts/why/nearest.tsx'
import { Misfit } from './misfit.tsx'
import { askedBody, missingOf, type PodText } from './pod-form.ts'

/** What fits changes while one reads. */
const EVERY_MS = 10_000

interface Preview {
  answer: Live<PodPlacementPreview>
  errors: FieldErrors
}

/** Where the pod would go now: the create's own dry run, asked when one stops typing (POD-21). */
export function usePodPreview(text: PodText): Preview {
  const body = useSettled(JSON.stringify(askedBody(text)))
  const answer = useLive(
    ['pod-preview', body],
    async (api, signal) => (await api.request('POST', '/v2/pods?dryRun=true', JSON.parse(body), { signal })) as PodPlacementPreview,
    { everyMs: EVERY_MS, isEnabled: missingOf(text) === undefined },
  )
  return { answer, errors: fieldErrors(answer.error) }
}

interface PreviewPanelProps {
  preview: Preview
  /** Why nothing is asked yet. */
  missing: string | undefined
  onTake: (body: CreatePodRequest) => void
}

/** What pressing the button would do: where it goes and what that costs, or what is in its way and what would fit instead. */
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
          {/* An option of a dry run is the create with its whole body. */}
          <Nearest options={of.options} onTake={(body) => onTake(body as CreatePodRequest)} />
        </>
      )}
    </div>
  )
}
