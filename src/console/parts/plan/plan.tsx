import type { ApiClient } from '../../../client/client.ts'
import type { ChangePlan } from '../../../contract/change-plan.ts'
import { useLive } from '../../app/live.ts'
import { Face } from '../faces.tsx'
import { Effects } from './effects.tsx'

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
        refusal === null ? <Effects of={effects} /> : <p className="text-bad">It would be refused: {refusal.detail}</p>
      }
    </Face>
  )
}
