import { useState } from 'react'
import type { AccountLimits, BudgetOverrides } from '../../../../contract/accounts/budgets.ts'
import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { TextField } from '../../../parts/form/field.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { Share } from '../amounts.tsx'
import { BUDGET_LABELS, BUDGET_NAMES, boundText, boundTexts, budgetsOf, usedText } from './bounds.ts'
import { LimitsForm } from './limits-form.tsx'

interface BudgetsProps {
  id: string
  /** Usage of the account and the bounds in force. */
  inForce: AccountLimits
}

/** Form for the bounds of the account, with the current usage. */
export function Budgets({ id, inForce }: BudgetsProps) {
  const budgets = useLive(['operator', 'budgets', id], (client, signal) => client.getBudgets({ path: { id } }, { signal }), { everyMs: 0 })
  return <ViewState of={budgets}>{(own) => <BudgetsForm key={JSON.stringify(own)} id={id} own={own} inForce={inForce} />}</ViewState>
}

function BudgetsForm({ id, own, inForce }: BudgetsProps & { own: BudgetOverrides }) {
  const { api, refresh } = useApi()
  const { isBusy, refusal, errors, send } = useSubmit()
  const [texts, setTexts] = useState(() => boundTexts(own))
  const { body, wrong } = budgetsOf(texts)
  const save = async () => {
    await send(() => api.setBudgets({ path: { id }, body }), 'The budgets are set')
    await Promise.all([refresh('operator', 'budgets', id), refresh('operator', 'limits', id)])
  }
  return (
    <LimitsForm
      isBusy={isBusy}
      refusal={refusal}
      title="Save these budgets?"
      path={`/admin/v1/users/${id}/budgets`}
      body={body}
      disabledReason={wrong.length === 0 ? undefined : 'Some budgets are invalid.'}
      save={save}
    >
      <p className="text-soft">
        If a field is empty, the value of the plan or the plane applies. Existing resources stay, even above a budget.
      </p>
      <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        {BUDGET_NAMES.map((name) => (
          <TextField
            key={name}
            label={BUDGET_LABELS[name]}
            inputMode="decimal"
            placeholder={own[name] === undefined ? boundText(name, inForce[name].bound) : 'value of the plan or the plane'}
            hint={<Share used={inForce[name].used} bound={inForce[name].bound} label={usedText(inForce[name])} />}
            value={texts[name] ?? ''}
            error={wrong.includes(name) ? 'Enter a number, or leave it empty.' : errors.of(name)}
            onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
          />
        ))}
      </div>
    </LimitsForm>
  )
}
