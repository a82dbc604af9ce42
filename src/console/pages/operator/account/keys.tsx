import { useState } from 'react'
import { useAct } from '../../../hooks/act.ts'
import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { ConfirmButton } from '../../../parts/over/confirm-button.tsx'
import { SecretOnce } from '../../../parts/over/secret-once.tsx'
import { Panel } from '../../../parts/page.tsx'
import { LiveTable } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'

/** Keys of the account; the operator can create and revoke them. */
export function Keys({ id }: { id: string }) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const [secret, setSecret] = useState<string | null>(null)
  const keys = useLive(['operator', 'keys', id], (client, signal) => client.listKeys({ path: { id } }, { signal }), { everyMs: 15_000 })
  const make = async () => {
    await run(async () => setSecret((await api.createKey({ path: { id }, body: { name: 'console' } })).key), 'Created a key')
    await refresh('operator', 'keys', id)
  }
  return (
    <Panel
      title="Keys"
      actions={
        <>
          <CopyAs call={{ method: 'POST', path: `/admin/v1/users/${id}/keys`, body: { name: 'console' } }} />
          <Button isBusy={isBusy} onClick={() => void make()}>
            New key
          </Button>
        </>
      }
    >
      <LiveTable
        of={keys}
        rows={(data) => data.keys}
        empty={{ title: 'No keys' }}
        caption="Keys"
        keyOf={(key) => key.id}
        columns={[
          { title: 'Name', show: ({ name }) => name },
          { title: 'Permissions', show: ({ permission }) => permission },
          { title: 'Last used', isMinor: true, show: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
          {
            title: 'Actions',
            show: (key) =>
              key.revokedAt === null ? (
                <ConfirmButton
                  title={`Revoke ${key.name}?`}
                  verb="Revoke"
                  name={`Revoke ${key.name}`}
                  act={() => api.revokeKey({ path: { id: key.id } })}
                  done="Revoked"
                  refresh={['operator', 'keys', id]}
                  plan={{ method: 'DELETE', path: `/admin/v1/keys/${key.id}` }}
                >
                  <p>The plane then refuses requests with this key.</p>
                </ConfirmButton>
              ) : (
                'revoked'
              ),
          },
        ]}
      />
      <SecretOnce
        title="New key"
        secret={secret}
        hint="It is shown only once. Send it to the user over a private channel."
        onClose={() => setSecret(null)}
      />
    </Panel>
  )
}
