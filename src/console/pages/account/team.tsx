import type { Organization } from '../../../contract/organizations/organizations.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi, useSessionChange } from '../../hooks/session.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Form, Options, Submit, useForm } from '../../parts/form/form.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { Invitations } from './team-invitations.tsx'
import { Members, mayNotIn } from './team-members.tsx'

/** Organizations of the user: members, invitations and roles. */
export function TeamPage() {
  const list = useLive(['organizations'], (api, signal) => api.listOrganizations({}, { signal }), { everyMs: 30_000 })
  const [chosen, choose] = useUrlState('organization', '')
  return (
    <Page title="Team">
      <ViewState
        of={list}
        empty={{
          when: ({ organizations }) => organizations.length === 0,
          show: (
            <Empty title="You are not a member of an organization">
              An organization has pods, endpoints and keys of its own; its members share them.
            </Empty>
          ),
        }}
      >
        {({ organizations }) => <Chosen of={organizations} id={chosen} choose={choose} />}
      </ViewState>
      <div className="grid gap-4 md:grid-cols-2">
        <NewOrganization />
        <Answer />
      </div>
    </Page>
  )
}

function Chosen({ of, id, choose }: { of: readonly Organization[]; id: string; choose: (id: string) => void }) {
  const shown = of.find((organization) => organization.id === id) ?? of[0]
  if (shown === undefined) return null
  return (
    <div className="flex flex-col gap-4">
      <div className="max-w-sm">
        <SelectField label="Organization" value={shown.id} onChange={(event) => choose(event.target.value)}>
          <Options of={of.map((one) => [one.id, `${one.name} (${one.role})`])} />
        </SelectField>
      </div>
      <Members key={`members ${shown.id}`} of={shown} />
      <Invitations key={`invitations ${shown.id}`} of={shown} />
    </div>
  )
}

function NewOrganization() {
  const { api, refresh } = useApi()
  const off = useMayNot()
  const { isBusy, refusal, send, text: body, set, input } = useForm({ name: '' })
  const changed = useSessionChange()
  const submit = async () => {
    if ((await send(() => api.createOrganization({ body }), `Created ${body.name}`)) === undefined) return
    set({ name: '' })
    await refresh('organizations')
    await changed()
  }
  return (
    <Panel title="New organization">
      <Form onSubmit={submit} refusal={refusal} className="flex flex-col items-start gap-3">
        <div className="w-full">
          <TextField label="Name" required {...input('name')} />
        </div>
        <Submit isBusy={isBusy} disabledReason={off} call={{ method: 'POST', path: '/v2/organizations', body }}>
          Create
        </Submit>
      </Form>
    </Panel>
  )
}

/** Reason why the caller may not create or join an organization; undefined if they may. */
function useMayNot(): string | undefined {
  const { account, may } = useApi()
  return may('account:write') ? undefined : mayNotIn(account.name)
}

function Answer() {
  const { api, refresh } = useApi()
  const off = useMayNot()
  const { isBusy, refusal, send, text: body, set, input } = useForm({ token: '' })
  const changed = useSessionChange()
  const done = async () => {
    set({ token: '' })
    await refresh('organizations')
    await changed()
  }
  const accept = async () => {
    if ((await send(() => api.acceptInvitation({ body }), 'You are now a member')) !== undefined) await done()
  }
  const decline = async () => {
    if (await send(() => api.declineInvitation({ body }).then(() => true), 'Declined')) await done()
  }
  return (
    <Panel title="You are invited">
      <Form onSubmit={accept} refusal={refusal} className="flex flex-col items-start gap-3">
        <div className="w-full">
          <TextField
            label="Invitation token"
            hint="The user who invited you has the token. It works once."
            autoComplete="off"
            required
            {...input('token')}
          />
        </div>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={off}>
            Accept
          </Button>
          <Button
            isBusy={isBusy}
            disabledReason={off ?? (body.token === '' ? 'Enter the token first.' : undefined)}
            onClick={() => void decline()}
          >
            Decline
          </Button>
          {/* The token accepts the invitation, so the copied command has a placeholder. */}
          <CopyAs call={{ method: 'POST', path: '/v2/organizations/invitations/accept', body: { token: '<token>' } }} />
          <CopyAs
            label="Copy decline as…"
            call={{ method: 'POST', path: '/v2/organizations/invitations/decline', body: { token: '<token>' } }}
          />
        </div>
      </Form>
    </Panel>
  )
}
