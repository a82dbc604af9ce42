import { useState } from 'react'
import type { SpendStopPlan } from '../../../contract/billing/stops.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/form/field.tsx'
import { Options, Refusal } from '../../parts/form/form.tsx'
import { count, duration, perHour } from '../../parts/format.ts'
import { Effects } from '../../parts/plan/effects.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { IDLE_MINUTES } from '../pods/deadline.ts'

/** Stops all spend after a preview of what stops and what continues. The list of stops can reverse it. */
export function StopSpend() {
  const { may } = useApi()
  const [isOpen, setIsOpen] = useState(false)
  const off = may('pods:write') && may('serverless:write') ? undefined : 'Your role may not stop pods and endpoints.'
  return (
    <>
      <Button kind="danger" disabledReason={off} onClick={() => setIsOpen(true)}>
        Stop spend
      </Button>
      {isOpen && <Preview onClose={() => setIsOpen(false)} />}
    </>
  )
}

function Preview({ onClose }: { onClose: () => void }) {
  const { api, refresh } = useApi()
  const { isBusy, refusal, send } = useSubmit()
  const [idleMinutes, setIdleMinutes] = useState('')
  const asked = idleMinutes === '' ? {} : { idleForSeconds: Number(idleMinutes) * 60 }
  const plan = useLive(
    ['spend-plan', idleMinutes],
    (client, signal) => client.stopSpend({ body: asked, query: { dryRun: true } }, { signal }) as Promise<SpendStopPlan>,
    { everyMs: 10_000 },
  )
  const seen = plan.data
  const body = seen === undefined ? asked : { ...asked, planId: seen.planId }
  const stop = async () => {
    if ((await send(() => api.stopSpend({ body }), 'Stopped; you can undo it in the list below')) !== undefined) onClose()
    await refresh()
  }
  return (
    <Dialog
      title="Stop spend"
      isOpen
      isWide
      onClose={onClose}
      actions={
        <>
          <CopyAs call={{ method: 'POST', path: '/v2/spend/stop', body }} />
          <Button onClick={onClose}>Close without changes</Button>
          <Button kind="danger" isBusy={isBusy} disabledReason={nothingToStop(seen)} onClick={() => void stop()}>
            {seen === undefined ? 'Stop' : `Stop ${count(seen.stops.length, 'resource')}`}
          </Button>
        </>
      }
    >
      <Refusal text={refusal} />
      <div className="mb-3 w-64">
        <SelectField label="What to stop" value={idleMinutes} onChange={({ target }) => setIdleMinutes(target.value)}>
          <option value="">All running resources</option>
          <Options of={IDLE_MINUTES.map((one) => [one, `Resources that have been idle for ${duration(one * 60_000)}`])} />
        </SelectField>
      </div>
      <ViewState of={plan}>{(data) => <PlanView of={data} />}</ViewState>
    </Dialog>
  )
}

function nothingToStop(plan: SpendStopPlan | undefined): string | undefined {
  if (plan === undefined) return 'The plan is not ready yet.'
  return plan.stops.length === 0 ? 'No running resource can be stopped.' : undefined
}

function PlanView({ of: { perHour: now, remainingPerHour, stops, stays, effects } }: { of: SpendStopPlan }) {
  return (
    <div className="flex flex-col gap-3">
      <p>
        From {perHour(now)} to <strong>{perHour(remainingPerHour)}</strong>. Nothing is deleted, and you can start all resources again.
      </p>
      {stops.length > 0 && (
        <section aria-label="Resources that stop">
          <h3 className="font-medium">Stops</h3>
          <ul className="list-disc pl-5">
            {stops.map(({ id, name, kind, savesPerHour }) => (
              <li key={id}>
                {kind.toLowerCase()} {name}, saves {perHour(savesPerHour)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {stays.length > 0 && (
        <section aria-label="Resources that keep running">
          <h3 className="font-medium">Keeps running</h3>
          <ul className="list-disc pl-5">
            {stays.map(({ id, name, reason, perHour: rate }) => (
              <li key={id}>
                {name}, {perHour(rate)}: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
      {effects.length > 0 && <Effects of={effects} />}
    </div>
  )
}
