import { useState } from 'react'
import { useAct } from '../../../hooks/act.ts'
import { useLive, useRefresh } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { Confirm } from '../../../parts/over/confirm.tsx'
import { SecretOnce } from '../../../parts/over/secret-once.tsx'
import { Panel } from '../../../parts/page.tsx'
import { Table } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'
import { Empty, ViewState } from '../../../parts/view-state.tsx'

/** Keys of the account; the operator can create and revoke them. */
export function Keys({ id }: { id: string }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [secret, setSecret] = useState<string | null>(null)
  const [asked, setAsked] = useState<{ id: string; name: string } | null>(null)
  const keys = useLive(['operator', 'keys', id], (client, signal) => client.listKeys({ path: { id } }, { signal }), { everyMs: 15_000 })
  const make = async () => {
    await run(async () => setSecret((await api.createKey({ path: { id }, body: { name: 'console' } })).key), 'Created a key')
    await refresh('operator', 'keys', id)
  }
  const revoke = async (keyId: string) => {
    await run(() => api.revokeKey({ path: { id: keyId } }), 'Revoked')
    setAsked(null)
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
      <ViewState of={keys} empty={{ when: (data) => data.keys.length === 0, show: <Empty title="No keys" /> }}>
        {(data) => (
          <Table
            caption="Keys"
            rows={data.keys}
            keyOf={(key) => key.id}
            columns={[
              { title: 'Name', show: ({ name }) => name },
              { title: 'Permissions', show: ({ permission }) => permission },
              { title: 'Last used', isMinor: true, show: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                title: 'Actions',
                show: (key) =>
                  key.revokedAt === null ? (
                    <Button kind="danger" aria-label={`Revoke ${key.name}`} onClick={() => setAsked(key)}>
                      Revoke
                    </Button>
                  ) : (
                    'revoked'
                  ),
              },
            ]}
          />
        )}
      </ViewState>
      <SecretOnce
        title="The new key"
        secret={secret}
        hint="It is shown only once. Send it to the user over a private channel."
        onClose={() => setSecret(null)}
      />
      {asked !== null && (
        <Confirm
          title={`Revoke ${asked.name}?`}
          verb="Revoke"
          isOpen
          isBusy={isBusy}
          onClose={() => setAsked(null)}
          onConfirm={() => void revoke(asked.id)}
          plan={{ method: 'DELETE', path: `/admin/v1/keys/${asked.id}` }}
        >
          <p>Requests with it are then refused.</p>
        </Confirm>
      )}
    </Panel>
  )
}
