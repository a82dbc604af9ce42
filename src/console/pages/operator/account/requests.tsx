import { useState } from 'react'
import type { UserLimits } from '../../../../contract/accounts/user-limits.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { CheckField, TextField } from '../../../parts/form/field.tsx'
import { ConfirmButton } from '../../../parts/over/confirm-button.tsx'
import { LimitsForm } from './limits-form.tsx'

const WINDOWS = { minute: 'Requests per minute', hour: 'Requests per hour', day: 'Requests per day' } as const
const NAMES = ['minute', 'hour', 'day'] as const

/** Form for the request limits of the account. */
export function Requests({ id, inForce }: { id: string; inForce: UserLimits['requests'] }) {
  const { isBusy, refusal, errors, send } = useSubmit()
  const { api, refresh } = useApi()
  const [texts, setTexts] = useState({ minute: `${inForce.minute}`, hour: `${inForce.hour}`, day: `${inForce.day}` })
  const [exempt, setExempt] = useState(inForce.exempt)
  const body = { minute: Number(texts.minute), hour: Number(texts.hour), day: Number(texts.day), exempt }
  const wrong = NAMES.filter((name) => !/^[1-9]\d*$/.test(texts[name].trim()))
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
          value={texts[name]}
          error={wrong.includes(name) ? 'Enter a whole number.' : errors.of(name)}
          onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
        />
      ))}
      <CheckField label="No limit" checked={exempt} onChange={({ target }) => setExempt(target.checked)} />
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
