import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { LinkButton } from '../../parts/button.tsx'
import { money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { ListSearch, useListFilter } from '../../parts/list-filter.tsx'
import { Page } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Members } from './members.tsx'

const NO_CLUSTERS = {
  title: 'No clusters yet',
  command: 'podplane clusters create --help',
  children: <p>A cluster is 2 to 250 identical pods in one data center, on a private network of their own.</p>,
}

/** All clusters of the account with the states of their members. */
export function ClustersPage() {
  const filter = useListFilter()
  const { query } = filter
  const clusters = useLive(['clusters', query], (api, signal) => api.listClusters({ query }, { signal }))
  return (
    <Page
      title="Clusters"
      actions={
        <LinkButton to={paths.newCluster()} kind="primary">
          New cluster
        </LinkButton>
      }
    >
      <ListSearch of={filter} />
      <LiveTable
        of={clusters}
        rows={(answer) => answer.clusters}
        empty={filter.isSearch ? { title: 'No matching clusters' } : NO_CLUSTERS}
        caption="Clusters"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.cluster(id)}>{name}</A> },
          { title: 'Type', isMinor: true, show: ({ type }) => type },
          { title: 'Members', show: ({ pods }) => <Members pods={pods} /> },
          { title: 'Per member', isMinor: true, show: ({ compute }) => `${compute.gpuCountPerPod} × ${compute.gpuTypeId}` },
          { title: 'Data center', isMinor: true, show: ({ dataCenterId }) => dataCenterId ?? '–' },
          { title: 'Price', isNumber: true, show: ({ spend }) => perHour(spend?.perHour ?? 0) },
          { title: 'Cost so far', isNumber: true, isMinor: true, show: ({ spend }) => money(spend?.costSoFar ?? 0) },
          { title: 'Created', show: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
      />
    </Page>
  )
}
