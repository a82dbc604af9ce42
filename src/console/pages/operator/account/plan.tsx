import type { LimitsPlan } from '../../../../contract/accounts/plans.ts'
import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { Options, useForm } from '../../../parts/form/form.tsx'
import { Facts } from '../../../parts/table.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { BUDGET_LABELS, BUDGET_NAMES, boundText } from './bounds.ts'
import { LimitsForm } from './limits-form.tsx'

/** Plan of every account that has none of its own. */
const DEFAULT = 'default'

/** The plan of the account (PLAN-1). */
export function AccountPlan({ id }: { id: string }) {
  const own = useLive(['operator', 'plan', id], (client, signal) => client.getUserPlan({ path: { id } }, { signal }), { everyMs: 0 })
  const all = useLive(['operator', 'plans'], (client, signal) => client.listPlans({}, { signal }), { everyMs: 0 })
  return (
    <ViewState of={own}>
      {({ plan }) => <ViewState of={all}>{({ plans }) => <PlanForm key={plan} id={id} plan={plan} plans={plans} />}</ViewState>}
    </ViewState>
  )
}

function PlanForm({ id, plan, plans }: { id: string; plan: string | null; plans: readonly LimitsPlan[] }) {
  const { api, refresh } = useApi()
  const { isBusy, refusal, send, text, input } = useForm({ plan: plan ?? '' })
  const name = text.plan
  const body = { plan: name === '' ? null : name }
  const save = async () => {
    await send(() => api.setUserPlan({ path: { id }, body }), 'The plan is set')
    await Promise.all([refresh('operator', 'plan', id), refresh('operator', 'limits', id)])
  }
  if (plans.length === 0) {
    return (
      <p className="text-soft">
        There are no plans yet: the limits of the plane apply. Create one with <code>podplane admin plans set research gpus=64</code>.
      </p>
    )
  }
  const chosen = plans.find((one) => one.name === (name === '' ? DEFAULT : name))
  return (
    <LimitsForm
      isBusy={isBusy}
      refusal={refusal}
      title={name === '' ? 'Remove the plan?' : `Assign the plan ${name}?`}
      path={`/admin/v1/users/${id}/plan`}
      body={body}
      disabledReason={name === (plan ?? '') ? 'The account has this plan already.' : undefined}
      save={save}
    >
      <SelectField label="Plan" {...input('plan')}>
        <option value="">No plan</option>
        <Options of={plans.map((one) => one.name)} />
      </SelectField>
      {chosen === undefined ? <p className="text-soft">The limits of the plane apply.</p> : <Facts rows={factsOf(chosen)} />}
    </LimitsForm>
  )
}

/** Limits that a plan sets; the defaults of the plane apply to the others. */
function factsOf({ limits: { requests, budgets = {} } }: LimitsPlan): (readonly [string, string])[] {
  const bounds = BUDGET_NAMES.flatMap((name) =>
    budgets[name] === undefined ? [] : [[BUDGET_LABELS[name], boundText(name, budgets[name])] as const],
  )
  if (requests === undefined) return bounds
  const windows = Object.entries(requests).map(([name, most]) => [`Requests per ${name}`, String(most)] as const)
  return [...windows, ...bounds]
}
