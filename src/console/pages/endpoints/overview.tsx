import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { CopyButton } from '../../parts/copy/copy.tsx'
import { ExplanationPanel } from '../../parts/explain/explanation-panel.tsx'
import { count, duration } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { Price } from './endpoints.tsx'
import { queueText, Verdict, workersText } from './health.tsx'
import { useHealth } from './use-endpoint.ts'

/**
 * Explanations change less often than the figures beside them, and the page has to stay within the request budget of an idle tab (UI-10).
 */
const EXPLAIN_EVERY_MS = 10_000

/** Current state of an endpoint, the address of its requests, and its configuration. */
export function Overview({ of: endpoint }: { of: Endpoint }) {
  const health = useHealth(endpoint.id)
  const { may } = useApi()
  const why = useLive(['endpoints', endpoint.id, 'why'], (api, signal) => api.explainEndpoint({ path: { id: endpoint.id } }, { signal }), {
    everyMs: EXPLAIN_EVERY_MS,
  })
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="lg:col-span-2">
        <ExplanationPanel of={why} mayWrite={may('serverless:write')} refresh="endpoints" />
      </div>
      <Panel title="Status">
        <ViewState of={health}>
          {(now) => (
            <Facts
              rows={[
                ['Health', <Verdict key="health" of={now} />],
                [endpoint.type === 'QUEUE' ? 'Queue' : 'Requests', queueText(now)],
                ['Workers', workersText(now)],
                ['Price', <Price key="price" id={endpoint.id} />],
                ...(now.requests?.reason ? [['Reason for waiting', now.requests.reason] as const] : []),
                ...(endpoint.type === 'QUEUE'
                  ? [
                      [
                        'Ended jobs',
                        `${count(now.jobs.completed, 'job')} completed, ${now.jobs.failed} failed, ${now.jobs.retried} retried`,
                      ] as const,
                    ]
                  : []),
              ]}
            />
          )}
        </ViewState>
        {endpoint.type === 'QUEUE' && (
          <p className="mt-3 flex flex-wrap gap-3">
            <A to={`${paths.endpoint(endpoint.id)}?tab=try`}>Send a request</A>
            <A to={`${paths.endpoint(endpoint.id)}?tab=jobs&status=IN_QUEUE`}>Waiting jobs</A>
          </p>
        )}
      </Panel>
      <Panel title="Configuration">
        <Facts
          rows={[
            [
              'Image',
              <span key="image" className="font-mono text-xs">
                {endpoint.image}
              </span>,
            ],
            ['Hardware', hardwareOf(endpoint)],
            ['Workers', `${endpoint.workers.min} to ${endpoint.workers.max}`],
            [
              'Idle workers stop',
              endpoint.workers.idleTimeout === undefined
                ? 'when requests allow'
                : `after ${duration(endpoint.workers.idleTimeout * 1_000)}`,
            ],
            ['Scaler', scalerText(endpoint.scaling)],
            ['Data centers', endpoint.dataCenterIds.length === 0 ? 'any' : endpoint.dataCenterIds.join(', ')],
            ['Job timeout', duration(endpoint.timeout)],
            ['Created', <Ago key="created" at={endpoint.createdAt} />],
          ]}
        />
      </Panel>
      <div className="lg:col-span-2">
        <Panel title="Addresses">
          <Facts
            rows={Object.entries(endpoint.requestUrls).map(([name, url]) => [
              name,
              <span key={name} className="flex min-w-0 items-center gap-2">
                <span className="min-w-0 font-mono text-xs break-all">{url}</span>
                <CopyButton text={url} what={`the address of ${name}`} />
              </span>,
            ])}
          />
        </Panel>
      </div>
    </div>
  )
}

/** Returns the hardware of a worker in words; memory is in GB. */
export function hardwareOf({ gpu, cpu }: Pick<Endpoint, 'gpu' | 'cpu'>): string {
  if (gpu) return `${gpu.count} × ${gpu.pools.join(' or ')}`
  return (cpu ?? []).map(({ id, vcpuCount, memory }) => `${id}, ${vcpuCount} vCPU, ${memory} GB`).join(' or ')
}

/** Returns the condition under which the scaler adds a worker, in words. */
export function scalerText(scaling: Endpoint['scaling']): string {
  if (scaling.type === 'QUEUE_DELAY') return `another worker when a job has waited ${scaling.queueDelay} s`
  return `a worker for ${count(scaling.requestCount, 'request')}`
}
