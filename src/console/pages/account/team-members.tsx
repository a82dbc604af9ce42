import { useState } from 'react'
import type { Organization, OrganizationMember } from '../../../contract/organizations/organizations.ts'
import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Options } from '../../parts/form/form.tsx'
import { Confirm } from '../../parts/over/confirm.tsx'
import { ConfirmButton } from '../../parts/over/confirm-button.tsx'
import { Panel } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewState } from '../../parts/view-state.tsx'

export const ROLES = ['OWNER', 'ADMIN', 'DEV', 'BILLING', 'BASIC'] as const
const MANAGERS: readonly string[] = ['OWNER', 'ADMIN']

/** Reason why the caller may not manage members; undefined if they may. The account that they act for must allow it, too (TEAM-4). */
export function useMayNotManage({ role }: Organization): string | undefined {
  const { account, may } = useApi()
  if (!MANAGERS.includes(role)) return `Your role ${role} may not manage members; ask an OWNER or ADMIN.`
  return may('account:write') ? undefined : mayNotIn(account.name)
}

/** Reason why the account that the caller acts for does not allow changes of organizations. */
export function mayNotIn(account: string): string {
  return `Your role in ${account} may not change organizations; switch to your own account.`
}

/** Shows the members of an organization with their roles. */
export function Members({ of }: { of: Organization }) {
  const details = useLive(['organizations', of.id], (api, signal) => api.getOrganization({ path: { id: of.id } }, { signal }), {
    everyMs: 15_000,
  })
  return (
    <Panel title="Members">
      <ViewState of={details}>
        {({ members }) => (
          <Table
            caption={`Members of ${of.name}`}
            rows={members}
            keyOf={({ userId }) => userId}
            columns={[
              { title: 'Member', show: ({ email }) => email },
              { title: 'Role', show: (member) => <Role of={member} organization={of} /> },
              { title: 'Joined', isMinor: true, show: ({ joinedAt }) => <Ago at={joinedAt} /> },
              { title: 'Actions', show: (member) => <Remove of={member} organization={of} /> },
            ]}
          />
        )}
      </ViewState>
    </Panel>
  )
}

function Role({ of: member, organization }: { of: OrganizationMember; organization: Organization }) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const [asked, setAsked] = useState<OrganizationMember['role'] | null>(null)
  const off = useMayNotManage(organization)
  if (off !== undefined) return member.role
  const change = async (role: OrganizationMember['role']) => {
    await run(
      () => api.updateOrganizationMember({ path: { id: organization.id, userId: member.userId }, body: { role } }),
      `${member.email} is ${role} now`,
    )
    setAsked(null)
    await refresh('organizations')
  }
  return (
    <>
      <select
        aria-label={`Role of ${member.email}`}
        className="border-line bg-panel rounded-md border px-2 py-1"
        disabled={isBusy}
        value={asked ?? member.role}
        onChange={(event) => setAsked(event.target.value as OrganizationMember['role'])}
      >
        <Options of={ROLES} />
      </select>
      {asked !== null && asked !== member.role && (
        <Confirm
          title={`Make ${member.email} ${asked}?`}
          verb="Change the role"
          isOpen
          isBusy={isBusy}
          onClose={() => setAsked(null)}
          onConfirm={() => void change(asked)}
          plan={{
            method: 'PATCH',
            path: `/v2/organizations/${organization.id}/members/${member.userId}`,
            body: { role: asked },
          }}
        >
          <p>The change takes effect at once, also in open pages.</p>
        </Confirm>
      )}
    </>
  )
}

function Remove({ of: { userId, email }, organization }: { of: OrganizationMember; organization: Organization }) {
  const off = useMayNotManage(organization)
  return (
    <ConfirmButton
      title={`Remove ${email}?`}
      verb="Remove"
      name={`Remove ${email}`}
      disabledReason={off}
      act={(api) => api.removeOrganizationMember({ path: { id: organization.id, userId } })}
      done={`${email} has left ${organization.name}`}
      refresh={['organizations']}
      plan={{ method: 'DELETE', path: `/v2/organizations/${organization.id}/members/${userId}` }}
    >
      <p>Resources that {email} created in this organization stay.</p>
    </ConfirmButton>
  )
}
