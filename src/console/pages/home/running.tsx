import { paths } from '../../hooks/paths.ts'
import { count, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { workersText } from '../endpoints/health.tsx'
import { hardwareOf } from '../pods/pod-acts.ts'
import type { Overview, Queue } from './attention.ts'
import { MOST_ROWS } from './use-overview.ts'

/** Current pods, endpoints and clusters. */
export function Running({ of }: { of: Overview }) {
  return (
    <div className="flex flex-col gap-4">
      {of.pods.total > 0 && <Pods of={of} />}
      {of.endpoints.total > 0 && <Endpoints of={of} />}
      {of.clusters.length > 0 && <Clusters of={of} />}
    </div>
  )
}

function Pods({ of: { pods, podCounts } }: { of: Overview }) {
  const { EXITED: stopped = 0, ERROR: failed = 0, RUNNING: running = 0 } = podCounts.byStatus
  const states = [[running, 'running'] as const, [stopped, 'stopped'] as const, [failed, 'failed'] as const]
    .filter(([size, state]) => size > 0 || state === 'running')
    .map(([size, state]) => `${size.toLocaleString('en-US')} ${state}`)
  return (
    <Panel title="Pods" actions={<A to={paths.pods()}>{count(pods.total, 'pod')}</A>}>
      <p className="text-soft mb-2">{states.join(', ')}</p>
      {pods.first.length > 0 && (
        <Table
          caption="Running pods"
          rows={pods.first}
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

function Endpoints({ of: { endpoints, queues } }: { of: Overview }) {
  return (
    <Panel title="Endpoints" actions={<A to={paths.endpoints()}>{count(endpoints.total, 'endpoint')}</A>}>
      <Table
        caption="Endpoints"
        rows={endpoints.first.slice(0, MOST_ROWS)}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.endpoint(id)}>{name}</A> },
          { title: 'In queue', isNumber: true, show: ({ id }) => queues.get(id)?.jobs.inQueue ?? '–' },
          { title: 'Running', isNumber: true, show: ({ id }) => queues.get(id)?.jobs.inProgress ?? '–' },
          { title: 'Workers', isMinor: true, show: ({ id }) => workersOf(queues.get(id)) },
          { title: 'Price', isNumber: true, show: ({ spend }) => perHour(spend?.perHour ?? 0) },
        ]}
      />
    </Panel>
  )
}

const workersOf = (queue: Queue | undefined) => (queue === undefined ? '–' : workersText(queue))

function Clusters({ of: { clusters } }: { of: Overview }) {
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
          { title: 'Price', isNumber: true, show: ({ spend }) => perHour(spend?.perHour ?? 0) },
        ]}
      />
    </Panel>
  )
}
