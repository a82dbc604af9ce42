import { type FormEvent, type ReactNode, useState } from 'react'
import { useLive, useRefresh } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { useSubmit } from '../../../app/submit.ts'
import { Button } from '../../../parts/button.tsx'
import { Face } from '../../../parts/faces.tsx'
import { CheckField, TextArea, TextField } from '../../../parts/form/field.tsx'
import { Refusal } from '../../../parts/form/refusal.tsx'
import { Confirm } from '../../../parts/over/confirm.tsx'
import { Panel } from '../../../parts/page.tsx'

/** Requests that the account may send; the plane answers no present value, so what is set replaces it. */
export function Quotas({ id }: { id: string }) {
  const { isBusy, refusal, errors, send } = useSubmit()
  const { api } = useApi()
  const [rates, setRates] = useState({ minute: '60', hour: '3000', day: '50000' })
  const [exempt, setExempt] = useState(false)
  const body = { minute: Number(rates.minute), hour: Number(rates.hour), day: Number(rates.day), exempt }
  return (
    <Panel title="Requests a window">
      <LimitsForm
        isBusy={isBusy}
        refusal={refusal}
        title="Set these quotas?"
        path={`/admin/v1/users/${id}/quotas`}
        body={() => body}
        save={() => send(() => api.setQuotas({ path: { id }, body }), 'The quotas hold from now on')}
      >
        {(['minute', 'hour', 'day'] as const).map((name) => (
          <TextField
            key={name}
            label={`A ${name}`}
            inputMode="numeric"
            value={rates[name]}
            error={errors.of(name)}
            onChange={(event) => setRates({ ...rates, [name]: event.target.value })}
          />
        ))}
        <CheckField label="No limit" checked={exempt} onChange={(event) => setExempt(event.target.checked)} />
      </LimitsForm>
    </Panel>
  )
}

/** How much of each kind the account may have at a time. */
export function Budgets({ id }: { id: string }) {
  const { api } = useApi()
  const budgets = useLive(['operator', 'budgets', id], (client, signal) => client.getBudgets({ path: { id } }, { signal }), { everyMs: 0 })
  return (
    <Panel title="Budgets">
      <Face of={budgets}>
        {(data) => (
          <JsonForm
            key={JSON.stringify(data)}
            title="Set these budgets?"
            label="Bounds"
            path={`/admin/v1/users/${id}/budgets`}
            queryKey={['operator', 'budgets', id]}
            value={data}
            hint="Bounds in place of the defaults, such as gpus and pods. An empty object: the defaults."
            set={(body) => api.setBudgets({ path: { id }, body })}
          />
        )}
      </Face>
    </Panel>
  )
}

/** How much the account may spend. */
export function Ceilings({ id }: { id: string }) {
  const { api } = useApi()
  const ceilings = useLive(['operator', 'ceilings', id], (client, signal) => client.getSpendCeilings({ path: { id } }, { signal }), {
    everyMs: 0,
  })
  return (
    <Panel title="Spend">
      <Face of={ceilings}>
        {(data) => (
          <JsonForm
            key={JSON.stringify(data)}
            title="Set these ceilings?"
            label="Most that it may spend"
            path={`/admin/v1/users/${id}/spend-limits`}
            queryKey={['operator', 'ceilings', id]}
            value={data}
            hint="perHour and perMonth in USD. An empty object: the plane's default."
            set={(body) => api.setSpendCeilings({ path: { id }, body })}
          />
        )}
      </Face>
    </Panel>
  )
}

interface JsonFormProps<Value> {
  title: string
  label: string
  path: string
  queryKey: string[]
  value: Value
  hint: string
  set: (body: Value) => Promise<unknown>
}

function JsonForm<Value extends object>({ title, label, path, queryKey, value, hint, set }: JsonFormProps<Value>) {
  const { isBusy, refusal, send } = useSubmit()
  const refresh = useRefresh()
  const [text, setText] = useState(JSON.stringify(value, null, 2))
  const save = async () => {
    await send(() => set(JSON.parse(text)), 'It holds from now on')
    await refresh(...queryKey)
  }
  return (
    <LimitsForm isBusy={isBusy} refusal={refusal} title={title} path={path} body={() => JSON.parse(text)} save={save}>
      <TextArea label={label} hint={hint} rows={5} value={text} onChange={(event) => setText(event.target.value)} />
    </LimitsForm>
  )
}

interface LimitsFormProps extends Pick<ReturnType<typeof useSubmit>, 'isBusy' | 'refusal'> {
  title: string
  path: string
  /** What is sent; throws when it cannot be read. */
  body: () => unknown
  save: () => Promise<unknown>
  children: ReactNode
}

/** Asks before a limit is set, with what it would do to what the account has (DRY-17). */
export function LimitsForm({ title, path, body, save, isBusy, refusal, children }: LimitsFormProps) {
  const [asked, setAsked] = useState<{ body: unknown } | null>(null)
  const [unread, setUnread] = useState<string | null>(null)
  const ask = (event: FormEvent) => {
    event.preventDefault()
    try {
      setAsked({ body: body() })
      setUnread(null)
    } catch (error) {
      setUnread(`This is no JSON: ${String(error)}`)
    }
  }
  const confirm = async () => {
    await save()
    setAsked(null)
  }
  return (
    <form onSubmit={ask} className="flex flex-col gap-3">
      <Refusal text={unread ?? refusal} />
      {children}
      <div>
        <Button type="submit" isBusy={isBusy}>
          Set
        </Button>
      </div>
      {asked !== null && (
        <Confirm
          title={title}
          verb="Set"
          isOpen
          isBusy={isBusy}
          onClose={() => setAsked(null)}
          onConfirm={() => void confirm()}
          plan={{ method: 'PUT', path, body: asked.body }}
        >
          <p>It holds from the moment it is set.</p>
        </Confirm>
      )}
    </form>
  )
}
