import type { SpendCeilings, SpendSummary } from '../../../../contract/billing/spend.ts'
import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/form.tsx'
import { money, perHour } from '../../../parts/format.ts'
import { ViewState } from '../../../parts/view-state.tsx'
import { Share } from '../amounts.tsx'
import { ceilingsOf } from './bounds.ts'
import { LimitsForm } from './limits-form.tsx'

interface SpendProps {
  id: string
  /** Spend of the account and the limits that it has set itself. */
  inForce: SpendSummary
}

/** Form for the spend ceilings of the account, with its current spend. */
export function Spend({ id, inForce }: SpendProps) {
  const ceilings = useLive(['operator', 'ceilings', id], (client, signal) => client.getSpendCeilings({ path: { id } }, { signal }), {
    everyMs: 0,
  })
  return <ViewState of={ceilings}>{(own) => <SpendForm key={JSON.stringify(own)} id={id} own={own} inForce={inForce} />}</ViewState>
}

function SpendForm({ id, own, inForce: { rate, month, limits } }: SpendProps & { own: SpendCeilings }) {
  const { api, refresh } = useApi()
  const start = { perHour: own.perHour?.toString() ?? '', perMonth: own.perMonth?.toString() ?? '' }
  const { isBusy, refusal, errors, send, text, input } = useForm(start)
  const { body, wrong } = ceilingsOf(text)
  const save = async () => {
    await send(() => api.setSpendCeilings({ path: { id }, body }), 'The spending limits are set')
    await Promise.all([refresh('operator', 'ceilings', id), refresh('operator', 'limits', id)])
  }
  const errorOf = (name: string) => (wrong.includes(name) ? 'Enter an amount in USD, or leave it empty.' : errors.of(name))
  return (
    <LimitsForm
      isBusy={isBusy}
      refusal={refusal}
      title="Save these spending limits?"
      path={`/admin/v1/users/${id}/spend-limits`}
      body={body}
      disabledReason={wrong.length === 0 ? undefined : 'Some amounts are invalid.'}
      save={save}
    >
      <TextField
        label="Maximum USD per hour"
        inputMode="decimal"
        placeholder={own.perHour === undefined ? String(limits.maxPerHour) : 'value of the plane'}
        hint={<Share used={rate.perHour} bound={limits.perHour} label={`${perHour(rate.perHour)} of ${perHour(limits.perHour)} now`} />}
        {...input('perHour')}
        error={errorOf('perHour')}
      />
      <TextField
        label="Maximum USD per calendar month"
        inputMode="decimal"
        placeholder="none"
        hint={
          <Share
            used={month.spent}
            bound={limits.perMonth}
            label={`${money(month.spent)}${limits.perMonth === null ? '' : ` of ${money(limits.perMonth)}`} since the 1st, about ${money(month.estimate)} by its end`}
          />
        }
        {...input('perMonth')}
        error={errorOf('perMonth')}
      />
      <p className="text-soft">The user can set lower limits, currently {limitText(limits)}.</p>
    </LimitsForm>
  )
}

function limitText({ perHour: hour, perMonth }: SpendSummary['limits']): string {
  return `${perHour(hour)}, ${perMonth === null ? 'no limit per month' : `${money(perMonth)} per month`}`
}
