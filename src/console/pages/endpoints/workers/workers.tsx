import { paths } from '../../../hooks/paths.ts'
import { duration } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { State } from '../../../parts/state.tsx'
import { Table } from '../../../parts/table.tsx'
import { Empty, ViewState } from '../../../parts/view-state.tsx'
import { useWorkers } from '../use-endpoint.ts'

/** Workers of an endpoint: state, uptime and hardware. */
export function Workers({ endpointId }: { endpointId: string }) {
  const workers = useWorkers(endpointId)
  return (
    <ViewState
      of={workers}
      empty={{
        when: ({ workers: { length } }) => length === 0,
        show: (
          <Empty title="No workers">
            <p>
              Workers start when jobs arrive. The minimum number of workers always runs. The logs of the endpoint contain those of ended
              workers.
            </p>
          </Empty>
        ),
      }}
    >
      {({ workers: rows, endpointVersion }) => (
        <Table
          caption="Workers"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Worker',
              show: ({ id }) => (
                <A to={paths.worker(endpointId, id)} className="text-accent font-mono text-xs underline underline-offset-2">
                  {id}
                </A>
              ),
            },
            { title: 'State', show: ({ status }) => <State value={status} /> },
            { title: 'Problem', show: ({ reason }) => reason ?? <span className="text-soft">–</span> },
            {
              title: 'Release',
              isMinor: true,
              show: ({ version, isStale }) => `${version ?? '–'}${isStale ? ` (newest is ${endpointVersion})` : ''}`,
            },
            {
              title: 'Hardware',
              isMinor: true,
              show: ({ gpuTypeId, gpuCount, dataCenterId }) =>
                `${gpuTypeId === null ? 'CPU' : `${gpuCount} × ${gpuTypeId}`}${dataCenterId === null ? '' : `, ${dataCenterId}`}`,
            },
            {
              title: 'Uptime',
              isNumber: true,
              show: ({ uptimeSeconds }) => (uptimeSeconds === null ? '–' : duration(uptimeSeconds * 1_000)),
            },
          ]}
        />
      )}
    </ViewState>
  )
}
