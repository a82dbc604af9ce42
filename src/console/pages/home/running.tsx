import type { Pod } from '../../../contract/pods/pods.ts'
import { paths } from '../../hooks/paths.ts'
import { count, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { workersText } from '../endpoints/health.tsx'
import { hardwareOf } from '../pods/pod-acts.ts'
import type { Overview, Queue } from './attention.ts'

/** Rows per table on Home; the list pages show the rest. */
const MOST_ROWS = 8

/** Current pods, endpoints and clusters. */
export function Running({ of }: { of: Overview }) {
  return (
    <div className="flex flex-col gap-4">
      {of.pods.length > 0 && <Pods pods={of.pods} />}
      {of.endpoints.length > 0 && <Endpoints of={of} />}
      {of.clusters.length > 0 && <Clusters of={of} />}
    </div>
  )
}

function Pods({ pods }: { pods: readonly Pod[] }) {
  const running = pods.filter(({ status }) => status !== 'EXITED')
  const stopped = pods.length - running.length
  return (
    <Panel title="Pods" actions={<A to={paths.pods()}>{count(pods.length, 'pod')}</A>}>
      {running.length === 0 ? (
        <p className="text-soft">{count(stopped, 'pod')} stopped, none running.</p>
      ) : (
        <Table
          caption="Running pods"
          rows={running.slice(0, MOST_ROWS)}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', show: ({ id, name }) => <A to={paths.pod(id)}>{name}</A> },
            { title: 'State', show: ({ status }) => <State value={status} /> },
            { title: 'Hardware', isMinor: true, show: hardwareOf },
            { title: 'Price', isNumber: true, show: ({ cost }) => perHour(cost) },
          ]}
        />
      )}
    </Panel>
  )
}

function Endpoints({ of: { endpoints, queues, spend } }: { of: Overview }) {
  const priceOf = (id: string) => spend.find((item) => item.kind === 'ENDPOINT' && item.id === id)?.perHour ?? 0
  return (
    <Panel title="Endpoints" actions={<A to={paths.endpoints()}>{count(endpoints.length, 'endpoint')}</A>}>
      <Table
        caption="Endpoints"
        rows={endpoints.slice(0, MOST_ROWS)}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.endpoint(id)}>{name}</A> },
          { title: 'In queue', isNumber: true, show: ({ id }) => queues.get(id)?.jobs.inQueue ?? '–' },
          { title: 'Running', isNumber: true, show: ({ id }) => queues.get(id)?.jobs.inProgress ?? '–' },
          { title: 'Workers', isMinor: true, show: ({ id }) => workersOf(queues.get(id)) },
          { title: 'Price', isNumber: true, show: ({ id }) => perHour(priceOf(id)) },
        ]}
      />
    </Panel>
  )
}

const workersOf = (queue: Queue | undefined) => (queue === undefined ? '–' : workersText(queue))

function Clusters({ of: { clusters, spend } }: { of: Overview }) {
  const priceOf = (id: string) => spend.find((item) => item.kind === 'CLUSTER' && item.id === id)?.perHour ?? 0
  return (
    <Panel title="Clusters" actions={<A to={paths.clusters()}>{count(clusters.length, 'cluster')}</A>}>
      <Table
        caption="Clusters"
        rows={clusters.slice(0, MOST_ROWS)}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.cluster(id)}>{name}</A> },
          { title: 'Members', isNumber: true, show: ({ pods: { total, byStatus } }) => `${byStatus.RUNNING ?? 0} of ${total} running` },
          { title: 'Type', isMinor: true, show: ({ type }) => type },
          { title: 'Price', isNumber: true, show: ({ id }) => perHour(priceOf(id)) },
        ]}
      />
    </Panel>
  )
}
