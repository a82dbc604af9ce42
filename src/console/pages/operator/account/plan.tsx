import { useState } from 'react'
import { useLive, useRefresh } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { useSubmit } from '../../../app/submit.ts'
import { Face } from '../../../parts/faces.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Panel } from '../../../parts/page.tsx'
import { LimitsForm } from './limits.tsx'

/** The plan of the account (PLN-3). */
export function AccountPlan({ id }: { id: string }) {
  const plan = useLive(['operator', 'plan', id], (client, signal) => client.getUserPlan({ path: { id } }, { signal }), { everyMs: 0 })
  return (
    <Panel title="Plan">
      <Face of={plan}>{(data) => <PlanForm key={data.plan} id={id} plan={data.plan} />}</Face>
    </Panel>
  )
}

function PlanForm({ id, plan }: { id: string; plan: string | null }) {
  const { api } = useApi()
  const { isBusy, refusal, errors, send } = useSubmit()
  const refresh = useRefresh()
  const plans = useLive(['operator', 'plans'], (client, signal) => client.listPlans({}, { signal }), { everyMs: 0 })
  const [name, setName] = useState(plan ?? '')
  const names = plans.data?.plans.map((one) => one.name) ?? []
  const body = { plan: name.trim() === '' ? null : name.trim() }
  const save = async () => {
    await send(() => api.setUserPlan({ path: { id }, body }), 'The plan holds from now on')
    await refresh('operator', 'plan', id)
  }
  return (
    <LimitsForm isBusy={isBusy} refusal={refusal} title="Give this plan?" path={`/admin/v1/users/${id}/plan`} body={() => body} save={save}>
      <TextField
        label="Plan"
        hint={names.length === 0 ? 'There is no plan yet: podplane admin plans set <name>' : `One of ${names.join(', ')}. Empty: none.`}
        value={name}
        error={errors.of('plan')}
        onChange={(event) => setName(event.target.value)}
      />
    </LimitsForm>
  )
}
