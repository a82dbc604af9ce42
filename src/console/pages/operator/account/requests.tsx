import type { UserLimits } from '../../../../contract/accounts/user-limits.ts'
import { useApi } from '../../../hooks/session.ts'
import { CheckField, TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/form.tsx'
import { ConfirmButton } from '../../../parts/over/confirm-button.tsx'
import { LimitsForm } from './limits-form.tsx'

const WINDOWS = { minute: 'Requests per minute', hour: 'Requests per hour', day: 'Requests per day' } as const
const NAMES = ['minute', 'hour', 'day'] as const

/** Form for the request limits of the account. */
export function Requests({ id, inForce }: { id: string; inForce: UserLimits['requests'] }) {
  const { api, refresh } = useApi()
  const start = { minute: `${inForce.minute}`, hour: `${inForce.hour}`, day: `${inForce.day}`, exempt: inForce.exempt }
  const { isBusy, refusal, send, text, input, check } = useForm(start)
  const body = { minute: Number(text.minute), hour: Number(text.hour), day: Number(text.day), exempt: text.exempt }
  const wrong = NAMES.filter((name) => !/^[1-9]\d*$/.test(text[name].trim()))
  const path = `/admin/v1/users/${id}/quotas`
  const save = async () => {
    await send(() => api.setQuotas({ path: { id }, body }), 'The request limits are set')
    await refresh('operator', 'limits', id)
  }
  return (
    <LimitsForm
      isBusy={isBusy}
      refusal={refusal}
      title="Save these request limits?"
      path={path}
      body={body}
      disabledReason={wrong.length === 0 ? undefined : 'Some limits are invalid.'}
      save={save}
      actions={<Reset id={id} path={path} />}
    >
      {NAMES.map((name) => (
        <TextField
          key={name}
          label={WINDOWS[name]}
          inputMode="numeric"
          {...input(name)}
          {...(wrong.includes(name) && { error: 'Enter a whole number.' })}
        />
      ))}
      <CheckField label="No limit" {...check('exempt')} />
    </LimitsForm>
  )
}

function Reset({ id, path }: { id: string; path: string }) {
  return (
    <ConfirmButton
      title="Reset the request limits to those of the plan or the plane?"
      verb="Reset"
      label="Reset to plan"
      kind="plain"
      act={(api) => api.resetQuotas({ path: { id } })}
      done="The request limits of the plan or the plane apply"
      refresh={['operator', 'limits', id]}
      plan={{ method: 'DELETE', path }}
    >
      <p>The change takes effect at once.</p>
    </ConfirmButton>
  )
}
