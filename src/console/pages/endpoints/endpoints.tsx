import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { queueText, Verdict, workersText } from './health.tsx'
import { useHealth } from './use-endpoint.ts'

/** Every row sends its own request, so the interval is longer than on the page of one endpoint. */
const HEALTH_EVERY_MS = 10_000
const SPEND_EVERY_MS = 30_000
const ADD = 'bg-fill inline-flex min-h-8 items-center rounded-md px-3 py-1 font-medium text-white hover:brightness-110'

/** All endpoints with their state, queue, workers and current cost. */
export function EndpointsPage() {
  const [cursor, setCursor] = useUrlState('cursor', '')
  const query = cursor === '' ? {} : { cursor }
  const endpoints = useLive(['endpoints', query], (api, signal) => api.listEndpoints({ query }, { signal }))
  const create = (
    <A to={paths.newEndpoint()} className={ADD}>
      New endpoint
    </A>
  )
  return (
    <Page title="Endpoints" actions={create}>
      <LiveTable
        of={endpoints}
        rows={({ endpoints }) => endpoints}
        empty={{
          title: 'No endpoints yet',
          command: 'podplane endpoints create --help',
          children: <p>An endpoint runs a container for jobs or requests, with as many workers as they need.</p>,
        }}
        isEmpty={({ endpoints: { length } }) => length === 0 && cursor === ''}
        caption="Endpoints"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.endpoint(id)}>{name}</A> },
          { title: 'Health', show: ({ id }) => <Health id={id} show={(of) => <Verdict of={of} />} /> },
          { title: 'Queue', isMinor: true, show: ({ id }) => <Health id={id} show={queueText} /> },
          { title: 'Workers', isMinor: true, show: ({ id }) => <Health id={id} show={workersText} /> },
          { title: 'Price', isNumber: true, show: ({ spend }) => perHour(spend?.perHour ?? 0) },
          { title: 'Cost so far', isNumber: true, isMinor: true, show: ({ spend }) => money(spend?.costSoFar ?? 0) },
          { title: 'Type', isMinor: true, show: ({ type }) => (type === 'QUEUE' ? 'Queue' : 'Load balancing') },
          { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
        pages={{ cursor, next: endpoints.data?.pagination.nextCursor ?? null, go: setCursor }}
      />
    </Page>
  )
}

function Health({ id, show }: { id: string; show: (of: NonNullable<ReturnType<typeof useHealth>['data']>) => React.ReactNode }) {
  const { data } = useHealth(id, HEALTH_EVERY_MS)
  return data === undefined ? <span className="text-soft">–</span> : show(data)
}

/** Current cost per hour of an endpoint's workers. */
export function Price({ id }: { id: string }) {
  const { data } = useLive(['spend'], (api, signal) => api.getSpend({ query: { limit: 1_000 } }, { signal }), { everyMs: SPEND_EVERY_MS })
  if (data === undefined) return <span className="text-soft">–</span>
  return perHour(data.items.find((item) => item.kind === 'ENDPOINT' && item.id === id)?.perHour ?? 0)
}
