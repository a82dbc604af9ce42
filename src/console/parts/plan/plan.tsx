import type { ChangePlan } from '../../../contract/change-plan.ts'
import { useLive } from '../../app/live.ts'
import { Face } from '../faces.tsx'
import { Effects } from './effects.tsx'

/** A change, as it is about to be sent. */
export interface PlannedCall {
  method: 'DELETE' | 'PATCH' | 'POST' | 'PUT'
  path: string
  body?: unknown
}

/** What a change would do, from a dry run of the very same call (DRY-1). */
export function Plan({ of: { method, path, body } }: { of: PlannedCall }) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const dry = `${path}${path.includes('?') ? '&' : '?'}dryRun=true`
  const plan = useLive(
    ['plan', method, path, text ?? ''],
    async (api, signal) => (await api.request(method, dry, text === undefined ? undefined : JSON.parse(text), { signal })) as ChangePlan,
    { everyMs: 0 },
  )
  return <Face of={plan}>{(known) => <PlanText of={known} />}</Face>
}

function PlanText({ of: { effects, refusal, inTheWay = [] } }: { of: ChangePlan }) {
  if (refusal === null) return <Effects of={effects} />
  return (
    <div className="text-bad">
      <p>It would be refused: {refusal.detail}</p>
      {inTheWay.length > 0 && (
        <ul aria-label="Who uses it" className="list-disc pl-5">
          {inTheWay.map(({ kind, id, name }) => (
            <li key={id}>
              {kind} {name ?? id}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
