import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { TextField } from '../../parts/form/field.tsx'
import { Form, Submit, useForm } from '../../parts/form/form.tsx'
import { A } from '../../parts/link.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** All users of the plane; organizations are listed under their users. */
export function AccountsPage() {
  const users = useLive(['operator', 'users'], (api, signal) => api.listUsers({}, { signal }), { everyMs: 15_000 })
  return (
    <Page title="Accounts">
      <LiveTable
        of={users}
        rows={(data) => data.users}
        empty={{ title: 'No users yet', command: 'npm run admin -- users create ada@example.com' }}
        caption="Users"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Email', show: ({ id, email }) => <A to={paths.account(id)}>{email}</A> },
          { title: 'Id', isMinor: true, show: ({ id }) => <code>{id}</code> },
          { title: 'Since', show: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
      />
      <NewUser />
    </Page>
  )
}

function NewUser() {
  const { api, refresh } = useApi()
  const { isBusy, refusal, send, text: body, set, input } = useForm({ email: '' })
  const submit = async () => {
    if ((await send(() => api.createUser({ body }), `Created ${body.email}`)) === undefined) return
    set({ email: '' })
    await refresh('operator')
  }
  return (
    <Panel title="New user">
      <Form onSubmit={submit} refusal={refusal} className="flex flex-col items-start gap-3">
        <div className="w-full max-w-sm">
          <TextField label="Email" type="email" required {...input('email')} />
        </div>
        <Submit isBusy={isBusy} call={{ method: 'POST', path: '/admin/v1/users', body }}>
          Create user
        </Submit>
      </Form>
    </Panel>
  )
}
