import { pageOf } from '../../../client/page.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { count, money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { given, ListSearch, PAGE, useListFilter } from '../../parts/list-filter.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { queueText, Verdict, workersText } from './health.tsx'
import { useHealth } from './use-endpoint.ts'

/** Every row sends its own request, so the interval grows with their number to stay within the request budget of a tab (UI-10). */
const HEALTH_EVERY_MS = 2_500
const SHORTEST_MS = 10_000
const SPEND_EVERY_MS = 30_000
const ADD = 'bg-fill inline-flex min-h-8 items-center rounded-md px-3 py-1 font-medium text-white hover:brightness-110'

const NO_ENDPOINTS = {
  title: 'No endpoints yet',
  command: 'podplane endpoints create --help',
  children: <p>An endpoint runs a container for jobs or requests, with as many workers as they need.</p>,
}

/** All endpoints with their state, queue, workers and current cost. */
export function EndpointsPage() {
  const filter = useListFilter()
  const query = { limit: PAGE, include: 'COUNTS', ...filter.query, ...given({ cursor: filter.cursor }) }
  const endpoints = useLive(['endpoints', query], (api, signal) => api.listEndpoints({ query }, { signal }))
  const total = endpoints.data?.counts?.total
  const healthEveryMs = endpoints.data === undefined ? 0 : HEALTH_EVERY_MS * pageOf(endpoints.data).items.length
  const create = (
    <A to={paths.newEndpoint()} className={ADD}>
      New endpoint
    </A>
  )
  return (
    <Page title="Endpoints" actions={create}>
      <ListSearch of={filter} total={total === undefined ? undefined : count(total, 'endpoint')} />
      <PagedTable
        of={endpoints}
        empty={filter.isSearch ? { title: 'No matching endpoints' } : NO_ENDPOINTS}
        caption="Endpoints"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.endpoint(id)}>{name}</A> },
          { title: 'Health', show: ({ id }) => <Health id={id} everyMs={healthEveryMs} show={(of) => <Verdict of={of} />} /> },
          { title: 'Queue', isMinor: true, show: ({ id }) => <Health id={id} everyMs={healthEveryMs} show={queueText} /> },
          { title: 'Workers', isMinor: true, show: ({ id }) => <Health id={id} everyMs={healthEveryMs} show={workersText} /> },
          { title: 'Price', isNumber: true, show: ({ spend }) => perHour(spend?.perHour ?? 0) },
          { title: 'Cost so far', isNumber: true, isMinor: true, show: ({ spend }) => money(spend?.costSoFar ?? 0) },
          { title: 'Type', isMinor: true, show: ({ type }) => (type === 'QUEUE' ? 'Queue' : 'Load balancing') },
          { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
        cursor={filter.cursor}
        go={filter.go}
      />
    </Page>
  )
}

interface HealthProps {
  id: string
  everyMs: number
  show: (of: NonNullable<ReturnType<typeof useHealth>['data']>) => React.ReactNode
}

function Health({ id, everyMs, show }: HealthProps) {
  const { data } = useHealth(id, Math.max(SHORTEST_MS, everyMs))
  return data === undefined ? <span className="text-soft">–</span> : show(data)
}

/** Current cost per hour of an endpoint's workers. */
export function Price({ id }: { id: string }) {
  const { data } = useLive(['spend'], (api, signal) => api.getSpend({ query: { limit: 1_000 } }, { signal }), { everyMs: SPEND_EVERY_MS })
  if (data === undefined) return <span className="text-soft">–</span>
  return perHour(data.items.find((item) => item.kind === 'ENDPOINT' && item.id === id)?.perHour ?? 0)
}
