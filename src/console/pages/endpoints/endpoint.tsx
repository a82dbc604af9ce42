import { useParam } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { type Tab, Tabs } from '../../parts/tabs.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { JobList } from '../jobs/job-list.tsx'
import { EndpointLogs } from './endpoint-logs.tsx'
import { verdictOf } from './health.tsx'
import { History } from './history/history.tsx'
import { Overview } from './overview.tsx'
import { Releases } from './releases/releases.tsx'
import { Scaling } from './scaling.tsx'
import { Settings } from './settings/settings.tsx'
import { Try } from './try/try.tsx'
import { useEndpoint, useHealth } from './use-endpoint.ts'
import { Workers } from './workers/workers.tsx'

/** Page of one endpoint; its views are tabs in the address. */
export function EndpointPage() {
  const id = useParam('id')
  const endpoint = useEndpoint(id)
  const { data: health } = useHealth(id)
  return (
    <Page
      title={endpoint.data?.name ?? id}
      {...(health === undefined ? {} : { mark: verdictOf(health).word })}
      actions={<A to={paths.endpoints()}>All endpoints</A>}
    >
      <ViewState of={endpoint}>
        {(shown) => {
          const isQueue = shown.type === 'QUEUE'
          const tabs: Tab[] = [
            { id: 'overview', title: 'Overview', show: () => <Overview of={shown} /> },
            ...(isQueue ? [{ id: 'try', title: 'Try', show: () => <Try endpointId={id} /> }] : []),
            ...(isQueue ? [{ id: 'jobs', title: 'Jobs', show: () => <JobList endpointId={id} /> }] : []),
            { id: 'workers', title: 'Workers', show: () => <Workers endpointId={id} /> },
            { id: 'logs', title: 'Logs', show: () => <EndpointLogs endpointId={id} /> },
            { id: 'releases', title: 'Releases', show: () => <Releases endpointId={id} /> },
            { id: 'scaling', title: 'Scaling', show: () => <Scaling endpointId={id} /> },
            { id: 'history', title: 'History', show: () => <History endpointId={id} /> },
            { id: 'settings', title: 'Settings', show: () => <Settings of={shown} /> },
          ]
          return <Tabs name={`Views of ${shown.name}`} tabs={tabs} />
        }}
      </ViewState>
    </Page>
  )
}
