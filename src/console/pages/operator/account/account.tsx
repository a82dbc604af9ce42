import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useAct } from '../../app/act.ts'
import { useLive, useRefresh } from '../../app/live.ts'
import { useApi } from '../../app/session.ts'
import { useSubmit } from '../../app/submit.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, Face } from '../../parts/faces.tsx'
import { CheckField, TextArea, TextField } from '../../parts/form/field.tsx'
import { Refusal } from '../../parts/form/refusal.tsx'
import { Confirm } from '../../parts/over/confirm.tsx'
import { SecretOnce } from '../../parts/over/secret-once.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** One user, as the operator sees it: keys, what the account may, and the switch that ends it. */
export function AccountPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const users = useLive(['operator', 'users'], (api, signal) => api.listUsers({}, { signal }), { everyMs: 0 })
  const email = users.data?.users.find((user) => user.id === id)?.email
  return (
    <Page title={email ?? id} actions={<Suspend id={id} name={email ?? id} />}>
      <Keys id={id} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Quotas id={id} />
        <Budgets id={id} />
        <Ceilings id={id} />
      </div>
    </Page>
  )
}

function Suspend({ id, name }: { id: string; name: string }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const [isAsking, setIsAsking] = useState(false)
  const suspend = async () => {
    await run(() => api.suspendUser({ path: { id } }), `${name} is suspended`)
    setIsAsking(false)
  }
  return (
    <>
      <Button isBusy={isBusy} onClick={() => void run(() => api.resumeUser({ path: { id } }), `${name} works again`)}>
        Resume
      </Button>
      <Button kind="danger" onClick={() => setIsAsking(true)}>
        Suspend
      </Button>
      <Confirm
        title={`Suspend ${name}?`}
        verb="Suspend"
        isOpen={isAsking}
        isBusy={isBusy}
        onClose={() => setIsAsking(false)}
        onConfirm={() => void suspend()}
        plan={{ method: 'POST', path: `/admin/v1/users/${id}/suspend` }}
      >
        <p>Jobs and data are kept; resuming starts the pods again.</p>
      </Confirm>
    </>
  )
}

function Keys({ id }: { id: string }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [secret, setSecret] = useState<string | null>(null)
  const keys = useLive(['operator', 'keys', id], (client, signal) => client.listKeys({ path: { id } }, { signal }), { everyMs: 15_000 })
  const make = async () => {
    await run(async () => setSecret((await api.createKey({ path: { id }, body: { name: 'console' } })).key), 'Made a key')
    await refresh('operator', 'keys', id)
  }
  const revoke = async (keyId: string) => {
    await run(() => api.revokeKey({ path: { id: keyId } }), 'Revoked')
    await refresh('operator', 'keys', id)
  }
  return (
    <Panel
      title="Keys"
      actions={
        <Button isBusy={isBusy} onClick={() => void make()}>
          New key
        </Button>
      }
    >
      <Face of={keys} empty={{ when: (data) => data.keys.length === 0, show: <Empty title="No keys" /> }}>
        {(data) => (
          <Table
            caption="Keys"
            rows={data.keys}
            keyOf={(key) => key.id}
            columns={[
              { title: 'Name', show: ({ name }) => name },
              { title: 'May', show: ({ permission }) => permission },
              { title: 'Last used', show: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                title: 'Actions',
                show: (key) =>
                  key.revokedAt === null ? (
                    <Button kind="danger" aria-label={`Revoke ${key.name}`} onClick={() => void revoke(key.id)}>
                      Revoke
                    </Button>
                  ) : (
                    'revoked'
                  ),
              },
            ]}
          />
        )}
      </Face>
      <SecretOnce
        title="The new key"
        secret={secret}
        hint="It is shown this once. Hand it to the user by a way that nobody else reads."
        onClose={() => setSecret(null)}
      />
    </Panel>
  )
}

/** Requests that the account may send; the plane answers no present value, so what is set replaces it. */
function Quotas({ id }: { id: string }) {
  const { api } = useApi()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [rates, setRates] = useState({ minute: '60', hour: '3000', day: '50000' })
  const [exempt, setExempt] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const body = { minute: Number(rates.minute), hour: Number(rates.hour), day: Number(rates.day), exempt }
    await send(() => api.setQuotas({ path: { id }, body }), 'The quotas hold from now on')
  }
  return (
    <Panel title="Requests a window">
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
        <Refusal text={refusal} />
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
        <div>
          <Button type="submit" isBusy={isBusy}>
            Set
          </Button>
        </div>
      </form>
    </Panel>
  )
}

function Budgets({ id }: { id: string }) {
  const budgets = useLive(['operator', 'budgets', id], (client, signal) => client.getBudgets({ path: { id } }, { signal }), { everyMs: 0 })
  return (
    <Panel title="Budgets">
      <Face of={budgets}>
        {(data) => (
          <JsonForm
            key={JSON.stringify(data)}
            id={id}
            kind="budgets"
            value={data}
            hint="Bounds in place of the defaults, such as gpus and pods. An empty object: the defaults."
          />
        )}
      </Face>
    </Panel>
  )
}

function Ceilings({ id }: { id: string }) {
  const ceilings = useLive(['operator', 'ceilings', id], (client, signal) => client.getSpendCeilings({ path: { id } }, { signal }), {
    everyMs: 0,
  })
  return (
    <Panel title="Spend">
      <Face of={ceilings}>
        {(data) => (
          <JsonForm
            key={JSON.stringify(data)}
            id={id}
            kind="ceilings"
            value={data}
            hint="perHour and perMonth in USD. An empty object: the plane's default."
          />
        )}
      </Face>
    </Panel>
  )
}

interface JsonFormProps {
  id: string
  kind: 'budgets' | 'ceilings'
  value: object
  hint: string
}

function JsonForm({ id, kind, value, hint }: JsonFormProps) {
  const { api } = useApi()
  const { isBusy, refusal, send } = useSubmit()
  const refresh = useRefresh()
  const [text, setText] = useState(JSON.stringify(value, null, 2))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const path = { id }
    await send(
      async () =>
        kind === 'budgets'
          ? await api.setBudgets({ path, body: JSON.parse(text) })
          : await api.setSpendCeilings({ path, body: JSON.parse(text) }),
      'It holds from now on',
    )
    await refresh('operator', kind, id)
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
      <Refusal text={refusal} />
      <TextArea
        label={kind === 'budgets' ? 'Bounds' : 'Most that it may spend'}
        hint={hint}
        rows={5}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div>
        <Button type="submit" isBusy={isBusy}>
          Set
        </Button>
      </div>
    </form>
  )
}
