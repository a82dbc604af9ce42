import { useMemo } from 'react'
import type { EndpointWorker } from '../../../../contract/endpoints/workers.ts'
import { useParam } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { duration } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Logs } from '../../../parts/logs/logs.tsx'
import { workerLog } from '../../../parts/logs/reading/origins.ts'
import { Page, Panel } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { Facts } from '../../../parts/table.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { useWorkers } from '../use-endpoint.ts'

/** Page of one worker and its log, which outlives the worker. */
export function WorkerPage() {
  const id = useParam('id')
  const workerId = useParam('workerId')
  const workers = useWorkers(id)
  const origin = useMemo(() => workerLog(id, workerId), [id, workerId])
  const worker = workers.data?.workers.find((one) => one.id === workerId)
  return (
    <Page
      title={`Worker ${workerId}`}
      {...(worker === undefined ? {} : { mark: worker.status })}
      actions={<A to={`${paths.endpoint(id)}?tab=workers`}>Endpoint</A>}
    >
      <Panel title="State">
        <ViewState of={workers}>{() => <Found worker={worker} />}</ViewState>
      </Panel>
      <Logs of={origin} />
    </Page>
  )
}

function Found({ worker }: { worker: EndpointWorker | undefined }) {
  if (worker === undefined) return <p className="text-soft">This worker has ended. Its log is retained for a while.</p>
  return (
    <Facts
      rows={[
        ['State', <State key="state" value={worker.status} />],
        ['Problem', worker.reason ?? 'none'],
        [
          'Image',
          <span key="image" className="font-mono text-xs">
            {worker.image ?? '–'}
          </span>,
        ],
        ['Hardware', worker.gpuTypeId === null ? 'CPU' : `${worker.gpuCount} × ${worker.gpuTypeId}`],
        ['Uptime', worker.uptimeSeconds === null ? 'not yet' : duration(worker.uptimeSeconds * 1_000)],
      ]}
    />
  )
}
