import type { SpendLimits } from '../../../contract/billing/spend.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { CheckField, TextField } from '../../parts/form/field.tsx'
import { Form, useForm } from '../../parts/form/form.tsx'
import { money } from '../../parts/format.ts'
import { Panel } from '../../parts/page.tsx'
import { ViewState } from '../../parts/view-state.tsx'

/** Spend limits of the account; the plane refuses new work beyond them and states the figures. */
export function SpendLimitsForm() {
  const limits = useLive(['spend-limits'], (api, signal) => api.getSpendLimits({}, { signal }), { everyMs: 0 })
  return (
    <Panel title="Spending limits">
      <ViewState of={limits}>{(data) => <LimitsForm key={JSON.stringify(data)} of={data} />}</ViewState>
    </Panel>
  )
}

const amount = (text: string) => (text.trim() === '' ? null : Number(text))

function LimitsForm({ of }: { of: SpendLimits }) {
  const { api, may, refresh } = useApi()
  const { perHour, perMonth, stopsPods } = of
  const start = { perHour: String(perHour), perMonth: perMonth === null ? '' : String(perMonth), stopsPods }
  const { isBusy, refusal, send, text, input, check } = useForm(start)
  const body = { ...text, perHour: amount(text.perHour), perMonth: amount(text.perMonth) }
  const submit = async () => {
    await send(() => api.updateSpendLimits({ body }), 'The limits are set')
    await refresh('spend-limits')
  }
  return (
    <Form onSubmit={submit} refusal={refusal}>
      <TextField
        label="USD per hour"
        inputMode="decimal"
        hint={`Empty: the maximum that the operator allows, ${money(of.maxPerHour)}.`}
        {...input('perHour')}
      />
      <TextField
        label="USD per month"
        inputMode="decimal"
        hint={of.maxPerMonth === null ? 'Empty: none.' : `Empty: ${money(of.maxPerMonth)}.`}
        {...input('perMonth')}
      />
      <CheckField
        label="Stop running pods above a limit"
        hint="The plane stops the newest pods first, and never a locked pod."
        {...check('stopsPods')}
      />
      <div className="flex justify-end gap-2">
        <CopyAs call={{ method: 'PATCH', path: '/v2/billing/limits', body }} />
        <Button
          type="submit"
          kind="primary"
          isBusy={isBusy}
          disabledReason={may('account:write') ? undefined : 'Your role may not set limits.'}
        >
          Save
        </Button>
      </div>
    </Form>
  )
}
