import { useLive } from '../../app/live.ts'
import { paths } from '../../app/paths.ts'
import { Empty, Face } from '../../parts/faces.tsx'
import { perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

export function PodsPage() {
  const pods = useLive(['pods'], (api, signal) => api.listPods({}, { signal }))
  return (
    <Page title="Pods">
      <Face
        of={pods}
        empty={{ when: ({ pods: { length } }) => length === 0, show: <Empty title="No pods yet" command="podplane pods create --help" /> }}
      >
        {({ pods: rows }) => (
          <Table
            caption="Pods"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', show: ({ id, name }) => <A to={paths.pod(id)}>{name}</A> },
              { title: 'State', show: ({ status }) => <State value={status} /> },
              { title: 'Price', isNumber: true, show: ({ cost }) => perHour(cost) },
              { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
            ]}
          />
        )}
      </Face>
    </Page>
  )
}
