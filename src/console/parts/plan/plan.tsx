import type { ApiClient } from '../../../client/client.ts'
import type { ChangePlan } from '../../../contract/change-plan.ts'
import { useLive } from '../../hooks/live.ts'
import { ViewState } from '../view-state.tsx'
import { Effects } from './effects.tsx'

/** A change that is about to be sent. */
export interface PlannedCall {
  method: 'DELETE' | 'PATCH' | 'POST' | 'PUT'
  path: string
  body?: unknown
  /** Command of the command line for the same change. */
  command?: string
}

/** Effects of a change, from a dry run of the same call (DRY-1). */
export function Plan({ of, withAccount = false }: { of: PlannedCall; withAccount?: boolean }) {
  return <Plans of={[of]} withAccount={withAccount} />
}

/** Effects of several changes that are sent together. */
export function Plans({ of, withAccount = false }: { of: readonly PlannedCall[]; withAccount?: boolean }) {
  const text = JSON.stringify(of)
  const plans = useLive(
    ['plan', text],
    async (api, signal) =>
      await Promise.all((JSON.parse(text) as PlannedCall[]).map(({ method, path, body }) => ask(api, signal, method, path, body))),
    { everyMs: 0 },
  )
  return (
    <ViewState of={plans}>
      {(known) => (
        <>
          {known.some(({ refusal }) => refusal === null) && (
            <Effects of={known.flatMap(({ refusal, effects }) => (refusal === null ? effects : []))} withAccount={withAccount} />
          )}
          {known.map((plan, index) => plan.refusal !== null && <Refused key={of[index]?.path} of={plan} />)}
        </>
      )}
    </ViewState>
  )
}

async function ask(api: ApiClient, signal: AbortSignal, method: PlannedCall['method'], path: string, body: unknown): Promise<ChangePlan> {
  const dry = `${path}${path.includes('?') ? '&' : '?'}dryRun=true`
  return (await api.request(method, dry, body, { signal })) as ChangePlan
}

function Refused({ of: { refusal, inTheWay = [] } }: { of: ChangePlan }) {
  return (
    <div className="text-bad">
      <p>The plane would refuse the change: {refusal?.detail}</p>
      {inTheWay.length > 0 && (
        <ul aria-label="Used by" className="list-disc pl-5">
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
