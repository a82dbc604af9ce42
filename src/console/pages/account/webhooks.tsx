import { useState } from 'react'
import type { WebhookDelivery } from '../../../contract/endpoints/webhooks.ts'
import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { count } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { ConfirmButton } from '../../parts/over/confirm-button.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { PagedTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Command } from '../../parts/view-state.tsx'

const PAGE = 50

/** Webhook deliveries of the account with their attempts, and the secret that signs them. */
export function WebhooksPage() {
  const { api, may, refresh } = useApi()
  const [cursor, setCursor] = useUrlState('cursor', '')
  const query = { limit: PAGE, ...(cursor === '' ? {} : { cursor }) }
  const list = useLive(['webhooks', cursor], (client, signal) => client.listWebhookDeliveries({ query }, { signal }))
  const { isBusy, run } = useAct()
  const off = may('jobs:write') ? undefined : 'Your role in this account may not redeliver webhooks.'
  const again = async ({ id }: WebhookDelivery) => {
    await run(() => api.redeliverWebhook({ path: { id } }), 'The delivery is sent again')
    await refresh('webhooks')
  }
  return (
    <Page title="Webhooks">
      <PagedTable
        of={list}
        empty={{
          title: 'No deliveries yet',
          command: 'podplane jobs run <endpoint> \'{"input":{},"webhook":"https://example.com/hook"}\'',
        }}
        caption="Deliveries"
        keyOf={({ id }) => id}
        columns={[
          { title: 'State', show: ({ status }) => <State value={status} /> },
          { title: 'URL', show: ({ url }) => <span className="break-all">{url}</span> },
          { title: 'Subject', isMinor: true, show: (delivery) => <Subject of={delivery} /> },
          { title: 'Attempts', isMinor: true, show: ({ attempts }) => <Attempts of={attempts} /> },
          { title: 'Created', show: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            title: 'Actions',
            show: (delivery) => (
              <span className="flex flex-wrap gap-2">
                <Button isBusy={isBusy} disabledReason={off} aria-label={`Redeliver ${delivery.id}`} onClick={() => void again(delivery)}>
                  Redeliver
                </Button>
                <CopyAs call={{ method: 'POST', path: `/v2/webhooks/deliveries/${delivery.id}/redeliver` }} />
              </span>
            ),
          },
        ]}
        cursor={cursor}
        go={setCursor}
      />
      <SigningSecret off={off} />
    </Page>
  )
}

function Subject({ of: { endpointId, jobId } }: { of: WebhookDelivery }) {
  if (endpointId === null || jobId === null) return 'spend limits'
  return <A to={paths.job(endpointId, jobId)}>{jobId}</A>
}

function Attempts({ of }: { of: WebhookDelivery['attempts'] }) {
  const last = of.at(-1)
  if (last === undefined) return 'none yet'
  return (
    <span>
      {count(of.length, 'attempt')}; the last: {last.status ?? last.error ?? 'no response'} ({last.durationMs} ms)
    </span>
  )
}

function SigningSecret({ off }: { off: string | undefined }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const [secret, setSecret] = useState<string | null>(null)
  const show = () => run(async () => setSecret((await api.getWebhookSigningSecret()).secret), 'The secret is shown below')
  return (
    <Panel title="Signing secret">
      <p className="text-soft mb-3">
        The plane signs every webhook with this secret. Any Standard Webhooks library can verify the signature.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {secret === null ? (
          <Button isBusy={isBusy} disabledReason={off} onClick={() => void show()}>
            Show
          </Button>
        ) : (
          <>
            <Command text={secret} />
            <Button onClick={() => setSecret(null)}>Hide</Button>
          </>
        )}
        <ConfirmButton
          title="Rotate the signing secret?"
          verb="Rotate"
          disabledReason={off}
          act={async () => setSecret((await api.rotateWebhookSigningSecret()).secret)}
          done="Rotated; the previous secret signs for a while, too"
          copied={{ method: 'POST', path: '/v2/webhooks/signing-secret/rotate' }}
        >
          <p>Both secrets sign webhooks for one day, so receivers have one day to switch to the new secret.</p>
        </ConfirmButton>
      </div>
    </Panel>
  )
}
