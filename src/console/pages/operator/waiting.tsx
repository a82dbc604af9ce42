import type { WaitingEndpoint } from '../../../contract/hosts/waiting.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { count } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

const PAGE = 50

/** Workloads that wait for capacity, longest wait first, and what hosts lack for them. */
export function WaitingPage() {
  const [cursor, setCursor] = useUrlState('cursor', '')
  const query = { limit: PAGE, ...(cursor === '' ? {} : { cursor }) }
  const list = useLive(['operator', 'waiting', cursor], (api, signal) => api.listWaiting({ query }, { signal }))
  return (
    <Page title="Waiting">
      <PagedTable
        of={list}
        empty={{ title: 'No endpoint waits for capacity' }}
        caption="Endpoints that wait for a host"
        keyOf={({ endpointId }) => endpointId}
        columns={[
          { title: 'Since', show: ({ since }) => <Ago at={since} /> },
          { title: 'Endpoint', show: ({ endpointName, endpointId }) => <span title={endpointId}>{endpointName}</span> },
          { title: 'Account', isMinor: true, show: ({ accountId }) => <code>{accountId}</code> },
          { title: 'Requirements', show: (row) => needs(row) },
          { title: 'Hosts', isMinor: true, show: ({ hosts }) => `${hosts.fit} of ${hosts.total} fit` },
          { title: 'Missing', show: ({ missing }) => <Missing of={missing} /> },
        ]}
        cursor={cursor}
        go={setCursor}
      />
      <p>
        <A to={paths.addMachine()}>Add a machine</A> that meets the requirements, or uncordon a machine under{' '}
        <A to={paths.hosts()}>Hosts</A>.
      </p>
    </Page>
  )
}

function needs({ needs: { gpuTypeIds, gpuCount, vcpus, memoryGb, diskGb, dataCenterIds } }: WaitingEndpoint): string {
  const gpus = gpuCount === 0 ? '' : `${gpuCount} × ${gpuTypeIds.join(' or ')}, `
  const where = dataCenterIds.length === 0 ? '' : `, in ${dataCenterIds.join(' or ')}`
  return `${gpus}${vcpus} vCPUs, ${memoryGb} GB memory, ${diskGb} GB disk${where}`
}

function Missing({ of }: { of: WaitingEndpoint['missing'] }) {
  return (
    <ul>
      {of.map(({ text, hosts }) => (
        <li key={text}>
          {text} ({count(hosts, 'host')})
        </li>
      ))}
    </ul>
  )
}
