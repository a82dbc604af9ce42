import type { ScalingEvent } from '../../../contract/endpoints/scaling.ts'
import { useLive } from '../../hooks/live.ts'
import { duration } from '../../parts/format.ts'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { scalerText } from './overview.tsx'

/** Decisions of the scaler with the figures behind them. */
export function Scaling({ endpointId }: { endpointId: string }) {
  const decisions = useLive(['scaling', endpointId], (api, signal) => api.listScalingDecisions({ path: { id: endpointId } }, { signal }))
  return (
    <ViewState
      of={decisions}
      empty={{
        when: ({ decisions: { length } }) => length === 0,
        show: <Empty title="No scaling decisions yet" />,
      }}
    >
      {({ scaling, decisions: rows }) => (
        <div className="flex flex-col gap-3">
          <p>The scaler adds {scalerText(scaling)}.</p>
          <Table
            caption="Decisions of the scaler"
            rows={rows.map((row, index) => ({ ...row, key: `${row.decidedAt} ${index}` }))}
            keyOf={({ key }) => key}
            columns={[
              { title: 'Time', show: ({ decidedAt }) => <Ago at={decidedAt} /> },
              { title: 'Change', show: changeOf },
              { title: 'Reason', show: ({ reason }) => reason },
              { title: 'Inputs', isMinor: true, show: figuresOf },
            ]}
          />
        </div>
      )}
    </ViewState>
  )
}

function changeOf({ started, stopped, current, desired }: ScalingEvent): string {
  const parts = [started > 0 && `+${started}`, stopped > 0 && `−${stopped}`].filter(Boolean)
  return `${parts.join(', ') || '±0'} (${current} → ${desired})`
}

function figuresOf({ inputs }: ScalingEvent): string {
  return [
    `${inputs.queued} waiting`,
    `${inputs.workersBusy} busy`,
    inputs.longestWaitMs !== null && `longest wait ${duration(inputs.longestWaitMs)}`,
    inputs.workersThrottled > 0 && `${inputs.workersThrottled} without capacity`,
    inputs.backoffMs > 0 && `backoff ${duration(inputs.backoffMs)}`,
    `limits ${inputs.workersMin} to ${inputs.workersMax}`,
  ]
    .filter(Boolean)
    .join(' · ')
}
