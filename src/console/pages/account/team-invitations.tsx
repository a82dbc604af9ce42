import { useState } from 'react'
import type { Organization, OrganizationMember } from '../../../contract/organizations/organizations.ts'
import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Form, Options, useForm } from '../../parts/form/form.tsx'
import { SecretOnce } from '../../parts/over/secret-once.tsx'
import { Panel } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { ROLES, useMayNotManage } from './team-members.tsx'

/** Invitations that have not been answered, and the form for a new one. */
export function Invitations({ of }: { of: Organization }) {
  const off = useMayNotManage(of)
  if (off !== undefined) return null
  return (
    <Panel title="Invitations">
      <div className="flex flex-col gap-4">
        <Open of={of} />
        <Invite of={of} />
      </div>
    </Panel>
  )
}

function Open({ of }: { of: Organization }) {
  const { api, refresh } = useApi()
  const { run } = useAct()
  const list = useLive(['invitations', of.id], (client, signal) => client.listInvitations({ path: { id: of.id } }, { signal }), {
    everyMs: 15_000,
  })
  const revoke = async (invitationId: string) => {
    await run(() => api.revokeInvitation({ path: { id: of.id, invitationId } }), 'The invitation is revoked')
    await refresh('invitations')
  }
  return (
    <LiveTable
      of={list}
      rows={({ invitations }) => invitations}
      empty={{ title: 'No open invitations' }}
      caption="Open invitations"
      keyOf={({ id }) => id}
      columns={[
        { title: 'Email', show: ({ email }) => email },
        { title: 'Role', show: ({ role }) => role },
        { title: 'Expires', show: ({ expiresAt }) => <Ago at={expiresAt} /> },
        {
          title: 'Actions',
          show: ({ id, email }) => (
            <span className="flex flex-wrap gap-2">
              <Button kind="danger" aria-label={`Revoke the invitation of ${email}`} onClick={() => void revoke(id)}>
                Revoke
              </Button>
              <CopyAs call={{ method: 'DELETE', path: `/v2/organizations/${of.id}/invitations/${id}` }} />
            </span>
          ),
        },
      ]}
    />
  )
}

function Invite({ of }: { of: Organization }) {
  const { api, refresh } = useApi()
  const form = useForm<{ email: string; role: OrganizationMember['role'] }>({ email: '', role: 'DEV' })
  const { isBusy, refusal, send, text: body, set, input } = form
  const [token, setToken] = useState<string | null>(null)
  const submit = async () => {
    const made = await send(() => api.createInvitation({ path: { id: of.id }, body }), `${body.email} is invited`)
    if (made === undefined) return
    set({ email: '' })
    setToken(made.token)
    await refresh('invitations')
  }
  return (
    <Form onSubmit={submit} refusal={refusal}>
      <div className="grid items-start gap-3 sm:grid-cols-[1fr_10rem_auto_auto]">
        <TextField label="Email" type="email" placeholder="grace@example.com" required {...input('email')} />
        <SelectField label="Role" {...input('role')}>
          <Options of={ROLES} />
        </SelectField>
        <Button type="submit" kind="primary" className="sm:mt-6" isBusy={isBusy}>
          Invite
        </Button>
        <div className="sm:mt-6">
          <CopyAs call={{ method: 'POST', path: `/v2/organizations/${of.id}/invitations`, body }} />
        </div>
      </div>
      <SecretOnce
        title="The invitation"
        secret={token}
        hint="Send this token to the user. It is shown only once, and it works once: on the page Team, under You are invited."
        onClose={() => setToken(null)}
      />
    </Form>
  )
}
