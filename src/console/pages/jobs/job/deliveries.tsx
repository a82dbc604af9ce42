import { useState } from 'react'
import { useLive } from '../../../hooks/live.ts'
import { State } from '../../../parts/state.tsx'
import { PagedTable } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'

const PAGE = 50

/** Webhook deliveries of a job. */
export function Deliveries({ jobId }: { jobId: string }) {
  const [cursor, setCursor] = useState('')
  const query = { jobId, limit: PAGE, ...(cursor !== '' && { cursor }) }
  const deliveries = useLive(['deliveries', jobId, cursor], (api, signal) => api.listWebhookDeliveries({ query }, { signal }))
  return (
    <PagedTable
      of={deliveries}
      empty={{ title: 'No deliveries', children: <p>A job with a webhook sends a POST request to it when the job ends.</p> }}
      caption="Webhook deliveries"
      keyOf={({ id }) => id}
      columns={[
        { title: 'URL', show: ({ url }) => <span className="font-mono text-xs break-all">{url}</span> },
        { title: 'State', show: ({ status }) => <State value={status} /> },
        {
          title: 'Attempts',
          show: ({ attempts }) => attempts.map(({ status, error }) => status ?? error ?? 'no response').join(', ') || 'none yet',
        },
        { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
      ]}
      cursor={cursor}
      go={setCursor}
    />
  )
}
