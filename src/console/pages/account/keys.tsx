import { useState } from 'react'
import type { AccountKey } from '../../../contract/accounts/keys.ts'
import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi, useSession } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { ConfirmButton } from '../../parts/over/confirm-button.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'
import { SecretOnce } from '../../parts/over/secret-once.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** API keys of the account: create, rotate and revoke. A secret is shown once. */
export function KeysPage() {
  const keys = useLive(['keys'], (api, signal) => api.listAccountKeys({}, { signal }), { everyMs: 30_000 })
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Page title="API keys" actions={<NewKey onSecret={setSecret} />}>
      <LiveTable
        of={keys}
        rows={(data) => data.keys}
        empty={{ title: 'No keys yet', command: `podplane api POST /v2/account/keys --body '{"name":"laptop"}'` }}
        caption="API keys"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ name }) => name },
          { title: 'Prefix', isMinor: true, show: ({ prefix }) => <code>{prefix}…</code> },
          { title: 'Permissions', show: ({ permission, scopes }) => (permission === 'RESTRICTED' ? scopes.join(', ') : permission) },
          { title: 'Last used', isMinor: true, show: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
          { title: 'State', show: (key) => <KeyState of={key} /> },
          { title: 'Actions', show: (key) => <KeyActions of={key} onSecret={setSecret} /> },
        ]}
      />
      <SecretOnce
        title="New API key"
        secret={secret}
        hint="It is shown only once; the plane stores only its hash."
        onClose={() => setSecret(null)}
      />
    </Page>
  )
}

function KeyState({ of: { revokedAt, expiresAt } }: { of: AccountKey }) {
  if (revokedAt !== null) return <State value="REVOKED" tone="off" />
  if (expiresAt === null) return <State value="ACTIVE" />
  return Date.parse(expiresAt) <= Date.now() ? (
    <State value="EXPIRED" tone="off" />
  ) : (
    <span>
      <State value="ACTIVE" /> expires <Ago at={expiresAt} />
    </span>
  )
}

interface KeyActionsProps {
  of: AccountKey
  onSecret: (secret: string | null) => void
}

function KeyActions({ of: key, onSecret }: KeyActionsProps) {
  const { api, may, refresh } = useApi()
  const { data: session } = useSession()
  const { isBusy, run } = useAct()
  if (key.revokedAt !== null) return null
  // A session may create keys and change those of its user in any role; those of others only an OWNER or ADMIN may revoke (TEAM-20).
  const isOwn = session?.signedIn === true && session.user?.id === key.userId
  const rotate = () =>
    run(async () => onSecret((await api.rotateAccountKey({ path: { id: key.id }, body: {} })).key), `Rotated ${key.name}`).then(() =>
      refresh('keys'),
    )
  return (
    <div className="flex gap-2">
      <Button
        isBusy={isBusy}
        disabledReason={isOwn ? undefined : 'Only the user who created this key may rotate it.'}
        aria-label={`Rotate ${key.name}`}
        onClick={() => void rotate()}
      >
        Rotate
      </Button>
      <CopyAs call={{ method: 'POST', path: `/v2/account/keys/${key.id}/rotate`, body: {}, command: `keys rotate ${key.id}` }} />
      <ConfirmButton
        title={`Revoke ${key.name}?`}
        verb="Revoke"
        name={`Revoke ${key.name}`}
        disabledReason={isOwn || may('account:write') ? undefined : 'Your role may revoke only your own keys.'}
        act={() => api.revokeAccountKey({ path: { id: key.id } })}
        done={`Revoked ${key.name}`}
        refresh={['keys']}
        plan={{ method: 'DELETE', path: `/v2/account/keys/${key.id}` }}
      >
        <p>
          The plane refuses requests with this key, everywhere within a minute. You cannot undo this. To give its users time to switch,
          rotate the key.
        </p>
      </ConfirmButton>
    </div>
  )
}

const BLANK: { name: string; permission: 'ALL' | 'READ_ONLY' | 'RESTRICTED'; scopes: string } = { name: '', permission: 'ALL', scopes: '' }

const bodyOf = ({ scopes, ...rest }: typeof BLANK) => ({
  ...rest,
  ...(rest.permission === 'RESTRICTED' && { scopes: scopes.split(/[\s,]+/).filter(Boolean) }),
})

function NewKey({ onSecret }: { onSecret: (secret: string | null) => void }) {
  return (
    <FormDialog
      title="New key"
      heading="New API key"
      verb="Create key"
      isPrimary
      start={BLANK}
      isKept
      call={(text) => ({ method: 'POST', path: '/v2/account/keys', body: bodyOf(text) })}
      send={(api, text) => api.createAccountKey({ body: bodyOf(text) })}
      done={({ name }) => `Created ${name}`}
      refresh="keys"
      onDone={({ key }) => onSecret(key)}
    >
      {(input, { permission }) => (
        <>
          <TextField label="Name" required {...input('name')} />
          <SelectField label="Permissions" {...input('permission')}>
            <option value="ALL">All your permissions</option>
            <option value="READ_ONLY">Read only</option>
            <option value="RESTRICTED">Only the scopes below</option>
          </SelectField>
          {permission === 'RESTRICTED' && (
            <TextField label="Scopes" hint="Such as pods:read jobs:write@<endpoint id>, separated by spaces." {...input('scopes')} />
          )}
        </>
      )}
    </FormDialog>
  )
}
