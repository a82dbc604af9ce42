import type { CreatePodRequest, PodPlacementPreview } from '../../../../contract/pods/pods.ts'
import { type Live, useLive } from '../../../app/live.ts'
import { useSettled } from '../../../app/settled.ts'
import { ErrorFace, Loading } from '../../../parts/faces.tsx'
import { type FieldErrors, fieldErrors } from '../../../parts/form/field-errors.ts'
import { count, perHour } from '../../../parts/format.ts'
import { Panel } from '../../../parts/page.tsx'
import { askedBody, missingOf, type PodText } from './pod-form.ts'

/** What fits changes while one reads. */
const EVERY_MS = 10_000
/** Hosts lack things by the dozen; the first few tell what to change. */
const MAX_REASONS = 5

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
  isBusy: boolean
  make: (body: CreatePodRequest) => Promise<void>
}

/** What pressing the button would do: where it goes and what that costs, or what is in its way. */
export function PreviewPanel({ preview: { answer }, missing }: PreviewPanelProps) {
  return (
    <Panel title="What would happen">
      <div aria-live="polite">{missing === undefined ? <Answer answer={answer} /> : <p className="text-soft">{missing}</p>}</div>
    </Panel>
  )
}

function Answer({ answer: { data, error, refetch } }: { answer: Live<PodPlacementPreview> }) {
  if (error !== null) return <ErrorFace error={error} retry={refetch} />
  if (data === undefined) return <Loading what="Asking what fits" />
  return (
    <div className="flex flex-col gap-2">
      <p className="text-lg font-semibold tabular-nums">{perHour(data.cost)}</p>
      {data.fits ? (
        <p className="text-good">Fits now{data.dataCenterId === null ? '' : ` in ${data.dataCenterId}`}.</p>
      ) : (
        <Misfit hosts={data.hosts} />
      )}
    </div>
  )
}

function Misfit({ hosts }: { hosts: PodPlacementPreview['hosts'] }) {
  const reasons = reasonsOf(hosts)
  return (
    <>
      <p className="text-bad">No machine has room for it now.</p>
      <ul className="list-disc pl-5">
        {reasons.map(({ text, on }) => (
          <li key={text}>
            {count(on, 'machine')}: {text}
          </li>
        ))}
      </ul>
    </>
  )
}

/** On how many machines each thing is missing, the most frequent first. */
function reasonsOf(hosts: PodPlacementPreview['hosts']): { text: string; on: number }[] {
  const counts = new Map<string, number>()
  for (const text of hosts.flatMap(({ failed }) => failed)) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
    .map(([text, on]) => ({ text, on }))
    .toSorted((a, b) => b.on - a.on)
    .slice(0, MAX_REASONS)
}
