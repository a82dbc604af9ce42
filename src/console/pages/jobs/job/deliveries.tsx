import { useLive } from '../../../hooks/live.ts'
import { State } from '../../../parts/state.tsx'
import { LiveTable } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'

/** Webhook deliveries of a job. */
export function Deliveries({ jobId }: { jobId: string }) {
  const deliveries = useLive(['deliveries', jobId], (api, signal) => api.listWebhookDeliveries({ query: { jobId } }, { signal }))
  return (
    <LiveTable
      of={deliveries}
      rows={(data) => data.deliveries}
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
    />
  )
}
