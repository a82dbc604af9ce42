import type { ApiClient } from '../../client/client.ts'
import type { ChangePlan } from '../../contract/change-plan.ts'
import { useLive } from '../app/live.ts'
import { Face } from './faces.tsx'

const SIGNS = { INFO: '○', WARNING: '◐', LOSS: '✕' } as const
const LOOKS = { INFO: '', WARNING: 'text-warn', LOSS: 'text-bad' } as const

interface PlanProps {
  /** Tells it from the plans of other changes. */
  name: string
  /** The change itself, asked with `dryRun`. */
  ask: (api: ApiClient, signal: AbortSignal) => Promise<unknown>
}

/** What a change would do, from a dry run of the very same call (DRY-1). */
export function Plan({ name, ask }: PlanProps) {
  const plan = useLive(['plan', name], async (api, signal) => (await ask(api, signal)) as ChangePlan, { everyMs: 0 })
  return (
    <Face of={plan}>
      {({ effects, refusal }) =>
        refusal === null ? (
          <ul className="flex flex-col gap-1" aria-label="What would happen">
            {effects.map(({ kind, resource, what, severity }) => (
              <li key={`${kind}/${resource.id}/${what}`} className={`flex gap-2 ${LOOKS[severity]}`}>
                <span aria-hidden="true">{SIGNS[severity]}</span>
                {what}
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-bad">It would be refused: {refusal.detail}</p>
        )
      }
    </Face>
  )
}
