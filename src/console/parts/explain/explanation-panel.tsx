import { useState } from 'react'
import type { WhyEvidence, WhyOption } from '../../../contract/explain/explain.ts'
import { useAct } from '../../hooks/act.ts'
import type { Live } from '../../hooks/live.ts'
import { useGo } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../button.tsx'
import { CopyAs } from '../copy/copy-as.tsx'
import { duration } from '../format.ts'
import { Confirm } from '../over/confirm.tsx'
import { Panel } from '../page.tsx'
import { ViewState } from '../view-state.tsx'
import { isNewPod, priceOf, sentence, whyNotOption } from './options.ts'

/** Fields that every explanation has. */
interface Explained {
  verdict: string
  sinceMs: number | null
  evidence: readonly WhyEvidence[]
  options: readonly WhyOption[]
  isStale: boolean
}

interface ExplanationPanelProps {
  of: Live<Explained>
  /** Whether the session may apply an option. */
  mayWrite: boolean
  /** Key of the data that is refreshed after an option was applied. */
  refresh: string
}

/** Explanation of a resource's state: verdict, evidence, and the smallest changes that would start it now. */
export function ExplanationPanel({ of, mayWrite, refresh }: ExplanationPanelProps) {
  return (
    <Panel title="Explanation">
      <ViewState of={of}>
        {({ verdict, sinceMs, evidence, options, isStale }) => (
          <div className="flex flex-col gap-3" aria-live="polite">
            <p className="font-medium">{verdict}</p>
            {sinceMs !== null && <p className="text-soft">For {duration(sinceMs)}.</p>}
            {isStale && (
              <p className="text-warn">
                The data may be old, because a machine has not reported lately. Therefore the plane suggests no changes.
              </p>
            )}
            <Evidence lines={evidence} />
            {options.length > 0 && <Options options={options} mayWrite={mayWrite} refresh={refresh} />}
          </div>
        )}
      </ViewState>
    </Panel>
  )
}

/** Label of each kind of evidence. */
const ABOUT: Readonly<Record<WhyEvidence['kind'], string>> = {
  STATE: 'State',
  QUEUE: 'Queue',
  WORKERS: 'Workers',
  SCALER: 'Scaler',
  CONSTRAINT: 'Machines',
  LIMIT: 'Limit',
  RETRY: 'Next',
}

function Evidence({ lines }: { lines: readonly WhyEvidence[] }) {
  if (lines.length === 0) return null
  return (
    <ul className="list-disc pl-5">
      {lines.map(({ kind, text, count, total }) => (
        <li key={`${kind}/${text}`}>
          <span className="text-soft">{ABOUT[kind]}:</span> {text}
          {kind === 'CONSTRAINT' && count !== null && total !== null ? ` (${count} of ${total} machines)` : ''}
        </li>
      ))}
    </ul>
  )
}

function Options({ options, mayWrite, refresh }: { options: readonly WhyOption[]; mayWrite: boolean; refresh: string }) {
  const { api, refresh: again } = useApi()
  const go = useGo()
  const { isBusy, run } = useAct()
  const [asked, setAsked] = useState<WhyOption | null>(null)
  const take = async (option: WhyOption) => {
    const { call } = option
    if (call === null) return
    let answer: unknown
    const send = async () => {
      // The key prevents a second creation when the answer to a sent request is lost.
      const headers = { 'idempotency-key': crypto.randomUUID() }
      answer = await api.request(call.method, call.path, call.body, call.method === 'POST' ? { headers } : {})
    }
    const isDone = await run(send, `Done: ${option.summary}`)
    await again(refresh)
    const id = (answer as { id?: string } | undefined)?.id
    if (isDone && isNewPod(option) && id !== undefined) go(paths.pod(id))
  }
  return (
    <section aria-label="Changes that would start it now">
      <h3 className="mb-2 font-medium">Changes that would start it now</h3>
      <ul className="flex flex-col gap-2">
        {options.map((option) => (
          <li key={`${option.kind}/${option.summary}`} className="flex flex-wrap items-center gap-2">
            <Button
              isBusy={isBusy}
              disabledReason={whyNotOption(option, mayWrite)}
              onClick={() => (option.loses === undefined ? void take(option) : setAsked(option))}
            >
              {sentence(option.summary)}
            </Button>
            <span className="text-soft tabular-nums">{priceOf(option)}</span>
            {option.call && <CopyAs call={option.call} />}
          </li>
        ))}
      </ul>
      {asked !== null && (
        <Confirm
          title={`${sentence(asked.summary)}?`}
          verb={sentence(asked.summary)}
          isOpen
          isBusy={isBusy}
          onClose={() => setAsked(null)}
          onConfirm={() => void take(asked).then(() => setAsked(null))}
        >
          <p>{asked.loses}</p>
          <p className="text-soft">{priceOf(asked)}</p>
        </Confirm>
      )}
    </section>
  )
}
